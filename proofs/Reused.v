(** * A checker for temporaries that hold other values in between

    A transformation may use temporaries, arrays whose values after the program
    are not wanted, in another order.  Values that belong together have the same
    tag, and [Temporaries.v] compares programs in which each tag has its own
    copy of the temporaries.  If, in the old order and in the new one, every
    read of a temporary sees a value with its own tag, neither program needs
    the copies, and both leave the same memory except in temporaries
    ([check_same_but]). *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Memory Transformation Parallel Private.
From Loopwright Require Import Linear Symbolic Specification Conditions Checker Changes Temporaries.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** The same statements and uses, at the new times. *)
Definition moved (T : change) : change := Change (changed T) (new_times T) (uses T).

Definition reused_goals (T : change) (S : storage) (n n' : node) (how how' : proposal) : list goal :=
  let (c, s) := beginning (original T) in
  change_goals (with_copies T S) n n' how how' ++
  contained_goals S c s (all_parts T S) (all_parts T S) (origins S) ++
  contained_goals S c s (all_parts (moved T) S) (all_parts (moved T) S) (origins S).

Definition check_reused (T : change) (S : storage) (n n' : node) (how how' : proposal) (cs : list certificate) : bool :=
  well_formed_change (with_copies T S) n n' how && same_lengths (tags S) &&
  Nat.eqb (List.length (tags S)) (List.length (shapes (original T))) &&
  Nat.eqb (List.length (uses T)) (List.length (shapes (original T))) &&
  match ties how' with [] => true | _ => false end &&
  refutes_all cs (reused_goals T S n n' how how').

(** ** Soundness *)

Lemma retimed_length : forall f hs ts, List.length (retimed f hs ts) = List.length hs.
Proof. intros f. induction hs as [|h hs IH]; intros [|t ts]; cbn [retimed List.length]; auto. Qed.

Lemma retimed_distinct : forall f hs ts, distinct (retimed f hs ts) = distinct hs.
Proof.
  intros f. induction hs as [|h hs IH]; intros [|t ts]; try reflexivity. cbn [retimed distinct with_time shape_name shape_hints].
  rewrite IH. f_equal. f_equal. f_equal. clear IH. revert ts.
  induction hs as [|g hs IH]; intros [|u ts]; try reflexivity. cbn [retimed existsb with_time shape_name]. rewrite IH. reflexivity.
Qed.

Lemma moved_uses : forall T e, memory_uses (moved T) e = memory_uses T e.
Proof.
  intros T e. unfold memory_uses, moved, changed. cbn [original uses shapes].
  generalize (shapes (original T)) as hs, (new_times T) as ts, (uses T) as us.
  induction hs as [|h hs IH]; intros [|t ts] [|u us]; try reflexivity. cbn [retimed combine map]. rewrite IH. reflexivity.
Qed.

Lemma moved_tag : forall T S e ev, tag_of (moved T) S e ev = tag_of T S e ev.
Proof.
  intros T S e ev. unfold tag_of, all_parts, moved, changed. cbn [original uses shapes].
  generalize (shapes (original T)) as hs, (new_times T) as ts, (tags S) as gs, (uses T) as us.
  induction hs as [|h hs IH]; intros [|t ts] [|g gs] [|u us]; try reflexivity. unfold tag_in, find_part in *.
  cbn [retimed combine List.find fst with_time shape_name shape_arguments].
  destruct (String.eqb (name_of ev) (shape_name h)); [reflexivity | apply IH].
Qed.

(** Both programs end, and leave the same memory except in temporaries. *)
Definition compute_the_same_but (A : accesses) (temporary : string -> bool) (e : env) (n n' : node) : Prop :=
  exists t t', runs e n t /\ runs e n' t' /\
  forall (value : Type) combine (effect : event -> memory value -> memory value),
  obeys A combine effect -> surely A temporary effect ->
  forall m m', same_but temporary value m m' ->
  same_but temporary value (run effect t m) (run effect t' m').

(** ** The theorem

    Two programs that pass the check end and leave the same memory except in
    temporaries: for all values of the parameters, all memories and all
    instructions that do what is stated. *)
Theorem check_same_but : forall T S n n' how how' cs, check_reused T S n n' how how' cs = true ->
  forall p, context (meant (original T)) p ->
  let e := environment (meant (original T)) p in
  compute_the_same_but (stated T e) (is_temporary S) e n n'.
Proof.
  intros T S n n' how how' cs H p Hp e. unfold check_reused in H.
  apply andb_prop in H as [H Hcs]. apply andb_prop in H as [H Hties']. apply andb_prop in H as [H Hlu].
  apply andb_prop in H as [H Hlt]. apply andb_prop in H as [Hwell Hlen]. apply Nat.eqb_eq in Hlu. apply Nat.eqb_eq in Hlt.
  apply refutes_all_sound in Hcs. unfold reused_goals in Hcs. destruct (beginning (original T)) as [c s] eqn:Eb.
  apply Forall_app in Hcs as [Hchange Hcs]. apply Forall_app in Hcs as [Hbefore Hafter].
  destruct (goals_same_memory (with_copies T S) n n' how how' Hwell Hchange p Hp) as (t & Ht & (t' & Ht') & Hany).
  cbn [original with_copies] in Ht, Ht', Hany. fold e in Ht, Ht', Hany.
  pose proof Hwell as Hw. unfold well_formed_change in Hw. apply andb_prop in Hw as [Hw Hties]. apply andb_prop in Hw as [Hw _].
  apply andb_prop in Hw as [Hw _]. apply andb_prop in Hw as [Hw _]. apply andb_prop in Hw as [Hw Hdistinct].
  cbn [original with_copies] in Hdistinct. apply andb_prop in Hw as [Hw Hw']. cbn [original with_copies] in Hw.
  change (changed (with_copies T S)) with (changed T) in Hw'.
  destruct how as [g k [|tie rest]]; [|discriminate]. destruct how' as [g' k' [|tie' rest']]; [|discriminate].
  unfold change_goals in Hchange. apply Forall_app in Hchange as [Hold Hchange]. apply Forall_app in Hchange as [Hnew _].
  cbn [original with_copies] in Hold. change (changed (with_copies T S)) with (changed T) in Hnew.
  destruct (goals_implement _ _ _ Hw Hold) as [_ Himpl]. destruct (Himpl p Hp) as (t0 & Hrun0 & Hsched).
  destruct (goals_implement _ _ _ Hw' Hnew) as [_ Himpl']. destruct (Himpl' p Hp) as (t1 & Hrun1 & Hsched').
  pose proof (runs_deterministic _ _ _ Ht _ Hrun0) as ->. pose proof (runs_deterministic _ _ _ Ht' _ Hrun1) as ->.
  destruct (beginning_models _ _ _ _ Eb Hp) as (v & Hm & Hc). fold e in Hc.
  assert (Hin : contained (stated T e) (is_temporary S) (tag_of T S e) t0).
  { apply (contained_sound T S e Hdistinct Hlt Hlu c s v Hm Hc _ t0 Hbefore Hsched). intros a b Ha Hb Htime.
    destruct (walked _ _ _ p Hold Hp) as (Hreg & Hcov & _ & Hord). cbn [ties] in Hord. rewrite untied_nothing in Hord.
    exact (times_differ _ _ _ Hreg Hcov Hord a b Ha Hb Htime). }
  assert (Hin' : contained (stated T e) (is_temporary S) (tag_of T S e) t1).
  { assert (Hd : distinct (shapes (original (moved T))) = true) by (cbn; rewrite retimed_distinct; exact Hdistinct).
    assert (Hl : List.length (shapes (original (moved T))) = List.length (shapes (original T))) by apply retimed_length.
    pose proof (contained_sound (moved T) S e Hd ltac:(rewrite Hl; exact Hlt) ltac:(rewrite Hl; exact Hlu) c s v Hm Hc _ t1 Hafter Hsched') as Hmoved.
    intros b d Hb Htemp Hread. unfold contained, source in Hmoved.
    destruct (Hmoved) with (b := b) (c := d) as (a & H1 & H2 & H3 & H4); [|exact Hb | exact Htemp | |].
    - intros x y Hx Hy Htime. destruct (walked _ _ _ p Hnew Hp) as (Hreg & Hcov & _ & Hord). cbn [ties] in Hord.
      rewrite untied_nothing in Hord. exact (times_differ _ _ _ Hreg Hcov Hord x y Hx Hy Htime).
    - unfold stated in *. cbn [reads] in *. rewrite moved_uses. exact Hread.
    - exists a. unfold source, stated in *. cbn [writes] in *. rewrite moved_uses in *. rewrite !moved_tag in H3.
      split; [exact H1 | split; [exact H2 | split; [exact H3|]]].
      intros o Ho1 Ho2 Ho3. specialize (H4 o Ho1 Ho2 Ho3). rewrite !moved_tag in H4. exact H4. }
  exists t0, t1. split; [exact Hrun0 | split; [exact Hrun1|]].
  intros value combine effect Hobeys Hsurely m m' Hmm x Hx.
  assert (Halike : forall u, (forall ev, In ev u -> scheduled (poly_of (shapes (original T)) e) ev) -> forall a b, In a u -> In b u ->
            List.length (tag_of T S e a) = List.length (tag_of T S e b)).
  { intros u Hu a b Ha Hb. apply (tags_alike T S e Hdistinct Hlt Hlu Hlen a b); [apply Hu, Ha | apply Hu, Hb]. }
  rewrite (private_copies (stated T e) (is_temporary S) (tag_of T S e) value combine effect Hobeys Hsurely t0 m m
    (each_once _ _ Hsched) Hin) with (c := x); [| |intros y Hy; reflexivity | exact Hx].
  - rewrite (private_copies (stated T e) (is_temporary S) (tag_of T S e) value combine effect Hobeys Hsurely t1 m' m
      (each_once _ _ Hsched') Hin') with (c := x); [| |intros y Hy; symmetry; apply Hmm, Hy | exact Hx].
    + apply (Hany t1 (runs_may_run _ _ _ Hrun1) value combine).
      eapply obeys_more; [| | |exact (privately_obeys _ (is_temporary S) (tag_of T S e) _ _ _ Hobeys)].
      * intros ev d (d' & Hd & ->). exact (proj1 (proj2 (copies_touched S e _ (tags S) (uses T) ev d' Hlt Hlu)) Hd).
      * intros ev d (d' & Hd & ->). exact (proj1 (copies_touched S e _ (tags S) (uses T) ev d' Hlt Hlu) Hd).
      * intros ev. exact (proj2 (proj2 (copies_touched S e _ (tags S) (uses T) ev (""%string, []) Hlt Hlu))).
    + apply Halike. intros ev Hev. apply (all_and_only _ _ Hsched') in Hev.
      apply (scheduled_alike (fun _ _ => True) _ _ e ev (retimed_alike (shapes (original T)) (new_times T))). exact Hev.
  - apply Halike. intros ev Hev. apply (all_and_only _ _ Hsched) in Hev. exact Hev.
Qed.
