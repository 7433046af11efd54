(** * Storage by values

    Two programs run the same instances in the same order on other cells, and
    the second runs copies of cells besides.  An instance computes the values
    that it writes from the values that it reads, the same in both programs.  A
    read that sees the same value in both sees what was written to the cell of
    the one and the cell of the other by the same instance, its origin, and
    since then each of the two cells was only written together with the other;
    or nothing wrote the one without the other since the beginning.  Where this
    holds of all reads, memory is the same in the arrays that are kept, those
    whose cells both programs write alike ([same_values]), and in every cell of
    which the same holds at the end ([same_ends]). *)

From Coq Require Import ZArith List String Bool Lia Permutation Sorted.
From Loopwright Require Import Loop Lexicographic Poly Memory Transformation.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

Definition cell_dec : forall c d : cell, {c = d} + {c <> d}.
Proof. decide equality; [apply (list_eq_dec Z.eq_dec) | apply string_dec]. Defined.

(** ** What an instance does, by values *)

Fixpoint position (c : cell) (l : list cell) : option nat :=
  match l with
  | [] => None
  | d :: l' => if cell_dec d c then Some O else option_map S (position c l')
  end.

(** [f xs k] is the value of number [k] that is computed from [xs]; the cells
    [w] get these values, and where one of them is named twice, the first. *)
Definition put {value : Type} (r w : list cell) (f : list value -> nat -> value) (m : memory value) : memory value :=
  fun c => match position c w with Some k => f (map m r) k | None => m c end.

Lemma position_in : forall c l k, position c l = Some k -> In c l.
Proof.
  intros c. induction l as [|d l IH]; intros k H; cbn [position] in H; [discriminate|].
  destruct (cell_dec d c) as [-> | _]; [left; reflexivity|]. right.
  destruct (position c l) as [j|]; [exact (IH j eq_refl) | discriminate].
Qed.

Lemma position_alike : forall c c' l l', List.length l = List.length l' ->
  (forall d d', In (d, d') (combine l l') -> d = c <-> d' = c') -> position c l = position c' l'.
Proof.
  intros c c'. induction l as [|d l IH]; intros [|d' l'] Hlen H; try discriminate; [reflexivity|]. cbn [position].
  assert (Hd : d = c <-> d' = c') by (apply H; left; reflexivity).
  destruct (cell_dec d c) as [E | E], (cell_dec d' c') as [E' | E']; try tauto.
  rewrite (IH l'); [reflexivity | cbn in Hlen; lia | intros x x' Hx; apply H; right; exact Hx].
Qed.

Lemma position_present : forall c l, In c l -> position c l <> None.
Proof.
  intros c. induction l as [|d l IH]; intros []; cbn [position].
  - subst d. destruct (cell_dec c c); congruence.
  - destruct (cell_dec d c); [discriminate|]. specialize (IH H). destruct (position c l); [discriminate | congruence].
Qed.

(** ** The theorem *)

Section Values.
  Variable value : Type.
  Variable f : event -> list value -> nat -> value.
  Variables R W R' W' : event -> list cell.
  (** Copies are the instances that only the second program has. *)
  Variable real : event -> bool.
  (** Arrays whose cells both write alike, and others that are the same in the beginning. *)
  Variables kept given : string -> bool.
  Variable t : trace.

  Definition old (ev : event) : memory value -> memory value := put (R ev) (W ev) (f ev).
  Definition new (ev : event) : memory value -> memory value := put (R' ev) (W' ev) (f ev).

  (** What [o] writes leaves the same in [c] as in [c'], if they held the same. *)
  Definition together (c c' : cell) (o : event) : Prop :=
    forall d d', In (d, d') (combine (W o) (W' o)) -> (d' = c' -> d = c) /\ (real o = true -> d = c -> d' = c').

  (** Of two cells, [l] has an instance that wrote both, and since then only together. *)
  Definition has_origin (l : trace) (c c' : cell) : Prop :=
    exists l1 a l2, l = l1 ++ a :: l2 /\ In (c, c') (combine (W a) (W' a)) /\ Forall (together c c') (a :: l2).

  Definition since_beginning (l : trace) (c c' : cell) : Prop := given (fst c) = true /\ c = c' /\ Forall (together c c') l.

  Hypothesis reads_paired : forall ev, In ev t -> List.length (R ev) = List.length (R' ev).
  Hypothesis writes_paired : forall ev, In ev t -> List.length (W ev) = List.length (W' ev).
  Hypothesis kept_alike : forall ev d d', In ev t -> real ev = true -> In (d, d') (combine (W ev) (W' ev)) ->
    kept (fst d) = true \/ kept (fst d') = true -> d = d'.
  (** To the first program a copy is one of a cell to itself. *)
  Hypothesis copies : forall ev, In ev t -> real ev = false ->
    exists s s' d', R ev = [s] /\ W ev = [s] /\ R' ev = [s'] /\ W' ev = [d'] /\ kept (fst d') = false.
  Hypothesis copies_copy : forall ev x, In ev t -> real ev = false -> f ev [x] 0%nat = x.
  Hypothesis reads_seen : forall l b r c c', t = l ++ b :: r -> In (c, c') (combine (R b) (R' b)) ->
    (kept (fst c) = true /\ c = c') \/ has_origin l c c' \/ since_beginning l c c'.

  Variables m m' : memory value.
  Hypothesis begun : forall c, kept (fst c) = true -> m c = m' c.
  Hypothesis begun_given : forall c, given (fst c) = true -> m c = m' c.

  Lemma old_copy : forall ev s, In ev t -> real ev = false -> R ev = [s] -> W ev = [s] -> forall n c, old ev n c = n c.
  Proof.
    intros ev s Hin Hno Hr Hw n c. unfold old, put. rewrite Hr, Hw. cbn [position map].
    destruct (cell_dec s c) as [-> | _]; [apply copies_copy; assumption | reflexivity].
  Qed.

  Lemma same_reads : forall (n n' : memory value) l l', List.length l = List.length l' ->
    (forall c c', In (c, c') (combine l l') -> n c = n' c') -> map n l = map n' l'.
  Proof.
    intros n n'. induction l as [|c l IH]; intros [|c' l'] Hlen H; try discriminate; [reflexivity|]. cbn [map]. f_equal.
    - apply H. left. reflexivity.
    - apply IH; [cbn in Hlen; lia | intros d d' Hd; apply H; right; exact Hd].
  Qed.

  Lemma along : forall l r, t = l ++ r ->
    (forall c, kept (fst c) = true -> run old l m c = run new l m' c) /\
    (forall c c', has_origin l c c' \/ since_beginning l c c' -> run old l m c = run new l m' c').
  Proof.
    induction l as [|o l IH] using rev_ind; intros r Ht.
    - split; [exact begun|]. intros c c' [(l1 & a & l2 & H & _) | (H & <- & _)]; [destruct l1; discriminate | exact (begun_given c H)].
    - rewrite <- app_assoc in Ht. cbn [app] in Ht. destruct (IH _ Ht) as [Hkept Horigin].
      assert (Ho : In o t) by (rewrite Ht; apply in_elt).
      unfold run. rewrite !fold_left_app. cbn [fold_left].
      change (fold_left (fun n ev => old ev n) l m) with (run old l m).
      change (fold_left (fun n ev => new ev n) l m') with (run new l m'). set (n := run old l m) in *. set (n' := run new l m') in *.
      assert (Hreads : map n (R o) = map n' (R' o)).
      { apply same_reads; [exact (reads_paired o Ho)|]. intros c c' Hc.
        destruct (reads_seen _ _ _ _ _ Ht Hc) as [[H1 <-] | H]; [exact (Hkept c H1) | exact (Horigin c c' H)]. }
      assert (Hone : forall c c', together c c' o -> n c = n' c' \/ In (c, c') (combine (W o) (W' o)) -> old o n c = new o n' c').
      { intros c c' Htogether Hbefore. destruct (real o) eqn:Hreal.
        - unfold old, new, put. rewrite Hreads, (position_alike c c' (W o) (W' o) (writes_paired o Ho)).
          + destruct (position c' (W' o)) eqn:E; [reflexivity|]. destruct Hbefore as [H | H]; [exact H|].
            destruct (position_present c' (W' o) (in_combine_r _ _ _ _ H) E).
          + intros d d' Hd. destruct (Htogether d d' Hd). tauto.
        - destruct (copies o Ho Hreal) as (s & s' & d' & E1 & E2 & E3 & E4 & _).
          rewrite (old_copy o s Ho Hreal E1 E2). unfold new, put. rewrite E3, E4. cbn [position map].
          rewrite E1, E3 in Hreads. cbn [map] in Hreads. injection Hreads as Hs.
          unfold together in Htogether. rewrite E2, E4 in Htogether, Hbefore. cbn [combine In] in Htogether, Hbefore.
          destruct (cell_dec d' c') as [Heq | Hne].
          + destruct (Htogether s d' (or_introl eq_refl)) as [H _]. rewrite <- (H Heq), Hs. symmetry. apply copies_copy; assumption.
          + destruct Hbefore as [H | [H | []]]; [exact H|]. congruence. }
      split.
      + intros c Hc. apply Hone; [|left; exact (Hkept c Hc)]. intros d d' Hd. destruct (real o) eqn:Hreal.
        * split; [intros ->; apply (kept_alike o d c Ho Hreal Hd); auto | intros _ ->; symmetry; apply (kept_alike o c d' Ho Hreal Hd); auto].
        * split; [|discriminate]. intros ->. destruct (copies o Ho Hreal) as (s & s' & d0 & _ & E2 & _ & E4 & Hno).
          rewrite E2, E4 in Hd. destruct Hd as [Hd | []]. injection Hd as _ ->. congruence.
      + intros c c' [(l1 & a & l2 & Hl & Hin & Hall) | (Hgiven & Heq & Hall)].
        2: { apply Forall_app in Hall as [Hall Hlast]. apply Hone; [inversion Hlast; assumption|]. left. apply Horigin. right.
             split; [exact Hgiven | split; assumption]. }
        destruct l2 as [|o' l2] using rev_ind.
        * apply app_inj_tail in Hl as [_ <-]. apply Hone; [inversion Hall; assumption | right; exact Hin].
        * clear IHl2. change (a :: l2 ++ [o']) with ((a :: l2) ++ [o']) in Hl, Hall. rewrite app_assoc in Hl.
          apply app_inj_tail in Hl as [-> <-]. apply Forall_app in Hall as [Hall Hlast].
          apply Hone; [inversion Hlast; assumption|]. left. apply Horigin. left. exists l1, a, l2. auto.
  Qed.

  (** The first program does without the copies. *)
  Lemma without_copies : forall c, run old (filter real t) m c = run old t m c.
  Proof.
    intros c. assert (Hall : forall l n n', incl l t -> (forall c, n c = n' c) -> forall c, run old (filter real l) n c = run old l n' c).
    { induction l as [|o l IH]; intros n n' Hl Hn x; [apply Hn|]. cbn [filter].
      assert (Ho : In o t) by (apply Hl; left; reflexivity).
      assert (Hl' : incl l t) by (intros y Hy; apply Hl; right; exact Hy).
      destruct (real o) eqn:Hreal; cbn [run fold_left]; apply (IH _ _ Hl').
      - intros y. unfold old, put. rewrite (map_ext n n' Hn), Hn. reflexivity.
      - intros y. destruct (copies o Ho Hreal) as (s & s' & d' & E1 & E2 & _). rewrite (old_copy o s Ho Hreal E1 E2). apply Hn. }
    apply (Hall t m m (incl_refl t)). reflexivity.
  Qed.

  Theorem same_values : forall c, kept (fst c) = true -> run old (filter real t) m c = run new t m' c.
  Proof. intros c Hc. rewrite without_copies. exact (proj1 (along t [] (eq_sym (app_nil_r t))) c Hc). Qed.

  Theorem same_ends : forall c c', has_origin t c c' \/ since_beginning t c c' -> run old (filter real t) m c = run new t m' c'.
  Proof. intros c c' H. rewrite without_copies. exact (proj2 (along t [] (eq_sym (app_nil_r t))) c c' H). Qed.
End Values.

(** ** A list in the order of times *)

Section Sorted.
  Variable P : poly.

  Lemma inserted : forall a l, StronglySorted (in_time P) l -> exists l', Permutation (a :: l) l' /\ StronglySorted (in_time P) l'.
  Proof.
    intros a. induction l as [|b l IH]; intros H.
    - exists [a]. split; [reflexivity | repeat constructor].
    - inversion H as [|? ? Hl Hb]; subst.
      destruct (lex_lt_total (time_of P b) (time_of P a)) as [Hlt | Hge].
      + destruct (IH Hl) as (l' & Hp & Hs). exists (b :: l'). split; [rewrite <- Hp; apply perm_swap|].
        constructor; [exact Hs|]. apply Forall_forall. intros x Hx. apply (Permutation_in _ (Permutation_sym Hp)) in Hx.
        destruct Hx as [<- | Hx]; [apply lex_lt_asymmetric, Hlt | rewrite Forall_forall in Hb; exact (Hb x Hx)].
      + assert (Hab : ~ lex_lt (time_of P b) (time_of P a)).
        { destruct Hge as [Heq | Hge]; [rewrite Heq; apply lex_lt_irreflexive | apply lex_lt_asymmetric, Hge]. }
        exists (a :: b :: l). split; [reflexivity|]. constructor; [exact H|]. constructor; [exact Hab|].
        rewrite Forall_forall in Hb |- *. intros x Hx Hxa. apply (Hb x Hx). destruct Hge as [Heq | Hge]; [rewrite Heq; exact Hxa|].
        exact (lex_lt_transitive _ _ _ Hxa Hge).
  Qed.

  Lemma sorted : forall l, exists l', Permutation l l' /\ StronglySorted (in_time P) l'.
  Proof.
    induction l as [|a l (l' & Hp & Hs)]; [exists []; split; [reflexivity | constructor]|].
    destruct (inserted a l' Hs) as (k & Hk & Hsk). exists k. split; [rewrite Hp; exact Hk | exact Hsk].
  Qed.
End Sorted.
