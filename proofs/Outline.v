(** * Legality, one pair of statements at a time

    [legal] speaks of all pairs of instances.  Most pairs of statements need
    no arithmetic: they have no array in common, or the text decides which of
    them runs first, or the transformation moves neither.  That is seen in the
    outline of a statement, which computes; for each pair that is left there
    is one formula, [kept]. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Lexicographic Poly Memory Transformation Formulas Reduction Legality.
Import ListNotations.
Open Scope Z_scope.

(** [Q] holds of all vectors of length [n]: [forall a b c, Q [a; b; c]]. *)
Fixpoint for_vectors (n : nat) (Q : list Z -> Prop) : Prop :=
  match n with
  | O => Q []
  | S n' => forall a, for_vectors n' (fun x => Q (a :: x))
  end.

(** A statement before and after, and what can be said without arithmetic: how
    many arguments it has, which arrays it reads and writes, which places of
    its two times are numbers ([None] where one is not), and how many places
    stay, from the first: are numbers before and after, or the same before and
    after.  One more than there are, where all stay. *)
Record outline := Outline {
  old : statement;
  new : statement;
  use : access;
  arity : nat;
  arrays_read : list string;
  arrays_written : list string;
  old_places : list (option Z);
  new_places : list (option Z);
  stays : nat
}.

(** The vector has these numbers in these places. *)
Fixpoint has_places (o : list (option Z)) (t : list Z) : Prop :=
  match o, t with
  | [], _ => True
  | Some c :: o', a :: t' => a = c /\ has_places o' t'
  | None :: o', _ :: t' => has_places o' t'
  | _ :: _, [] => False
  end.

(** Of the first [n] places, those that are not numbers are the same in both
    vectors. *)
Fixpoint same_places (n : nat) (o o' : list (option Z)) (t t' : list Z) : Prop :=
  match n with
  | O => True
  | S m =>
      match o, o', t, t' with
      | [], _, [], _ => True
      | None :: o1, None :: o1', a :: t1, a' :: t1' => a = a' /\ same_places m o1 o1' t1 t1'
      | Some _ :: o1, Some _ :: o1', _ :: t1, _ :: t1' => same_places m o1 o1' t1 t1'
      | _, _, _, _ => False
      end
  end.

(** An outline tells the truth about its statement. *)
Record truthful (o : outline) : Prop := {
  same_domain : forall x h, domain (old o) x h <-> domain (new o) x h;
  same_shape : forall x h, domain (old o) x h -> List.length x = arity o /\ h = [];
  same_outline : for_vectors (arity o) (fun x =>
    (map fst (reads_of (use o) x) = arrays_read o /\ map fst (writes_of (use o) x) = arrays_written o) /\
    (has_places (old_places o) (schedule (old o) x []) /\ has_places (new_places o) (schedule (new o) x [])) /\
    same_places (stays o) (old_places o) (new_places o) (schedule (old o) x []) (schedule (new o) x []))
}.

(** ** What the outlines of two statements decide *)

Definition common (l m : list string) : bool := existsb (fun a => existsb (String.eqb a) m) l.

Definition share (o o' : outline) : bool :=
  common (arrays_written o) (arrays_written o') || common (arrays_written o) (arrays_read o') ||
  common (arrays_read o) (arrays_written o').

(** Numbers at the first places decide the order of two times. *)
Fixpoint text_order (o o' : list (option Z)) : option comparison :=
  match o, o' with
  | Some a :: o1, Some b :: o1' =>
      match a ?= b with
      | Eq => text_order o1 o1'
      | c => Some c
      end
  | _, _ => None
  end.

(** The first [n] places decide the order of two times, and decide it the same
    way before and after. *)
Fixpoint steady (n : nat) (o p o' p' : list (option Z)) : bool :=
  match n with
  | O => false
  | S m =>
      match o, p, o', p' with
      | [], [], _, _ => true
      | None :: o1, None :: p1, None :: o1', None :: p1' => steady m o1 p1 o1' p1'
      | Some a :: o1, None :: p1, Some a' :: o1', None :: p1'
      | None :: o1, Some a :: p1, None :: o1', Some a' :: p1' => (a =? a') && steady m o1 p1 o1' p1'
      | Some a :: o1, Some b :: p1, Some a' :: o1', Some b' :: p1' =>
          match a ?= b, a' ?= b' with
          | Eq, Eq => steady m o1 p1 o1' p1'
          | Lt, Lt => true
          | Gt, _ => true
          | _, _ => false
          end
      | _, _, _, _ => false
      end
  end.

Definition decided (o p : outline) : bool :=
  negb (share o p) ||
  match text_order (old_places o) (old_places p), text_order (new_places o) (new_places p) with
  | Some Gt, _ => true
  | Some Lt, Some Lt => true
  | _, _ => false
  end ||
  steady (Nat.min (stays o) (stays p)) (old_places o) (old_places p) (new_places o) (new_places p).

(** ** What is left to be proved of two statements *)

(** One of these pairs of cells is a cell that both touch and one writes. *)
Definition touched_by_both (u v : access) (x y : list Z) : Prop :=
  any (map (fun p => fst p = snd p)
    (subscripts (writes_of u x) (writes_of v y) ++ subscripts (writes_of u x) (reads_of v y) ++
     subscripts (reads_of u x) (writes_of v y))).

Definition kept (o p : outline) : Prop :=
  for_vectors (arity o) (fun x => domain (old o) x [] ->
  for_vectors (arity p) (fun y => domain (old p) y [] ->
    touched_by_both (use o) (use p) x y ->
    lex_lt (schedule (old o) x []) (schedule (old p) y []) ->
    lex_lt (schedule (new o) x []) (schedule (new p) y []))).

(** The pairs that are not decided, by their positions in the list. *)
Definition undecided (l : list outline) : list (nat * nat) :=
  filter (fun ij => match nth_error l (fst ij), nth_error l (snd ij) with
                    | Some o, Some p => negb (decided o p)
                    | _, _ => false
                    end)
    (list_prod (seq 0 (List.length l)) (seq 0 (List.length l))).

Definition pair_kept (l : list outline) (ij : nat * nat) : Prop :=
  match nth_error l (fst ij), nth_error l (snd ij) with
  | Some o, Some p => kept o p
  | _, _ => True
  end.

Definition same_names (l : list outline) : bool :=
  forallb (fun o => String.eqb (name (new o)) (name (old o)) &&
                    String.eqb (statement_name (use o)) (name (old o))) l.

(** ** The outlines decide rightly *)

Lemma for_vectors_all : forall n Q, for_vectors n Q -> forall x, List.length x = n -> Q x.
Proof.
  induction n as [|n IH]; intros Q H [|a x] Hx; try discriminate; [exact H|].
  apply (IH (fun x => Q (a :: x)) (H a)). injection Hx. auto.
Qed.

Lemma all_in : forall A (f : A -> Prop) l x, all (map f l) -> In x l -> f x.
Proof.
  induction l as [|y l IH]; intros x H []; cbn [map] in H; apply all_cons in H as [H1 H2]; [subst|]; auto.
Qed.

Lemma text_order_decides : forall o p s t, has_places o s -> has_places p t ->
  (text_order o p = Some Lt -> lex_lt s t) /\ (text_order o p = Some Gt -> ~ lex_lt s t).
Proof.
  induction o as [|[a|] o IH]; intros [|[b|] p] [|u s] [|v t]; simpl; try (intros; split; discriminate); try tauto.
  intros [-> Hs] [-> Ht]. destruct (Z.compare_spec a b) as [-> | Hlt | Hgt].
  - destruct (IH p s t Hs Ht) as [H1 H2]. split; [auto|]. intros He [H | [_ H]]; [lia | exact (H2 He H)].
  - split; [auto | discriminate].
  - split; [discriminate|]. intros _ [H | [H _]]; lia.
Qed.

Lemma fewer_places : forall n m o o' t t',
  (m <= n)%nat -> same_places n o o' t t' -> same_places m o o' t t'.
Proof.
  induction n as [|n IH]; intros [|m] o o' t t' Hle; simpl; auto; [lia|].
  destruct o as [|[a|] o], o' as [|[a'|] o'], t as [|u t], t' as [|u' t']; auto;
    try (apply IH; lia). intros [H1 H2]. split; [exact H1 | revert H2; apply IH; lia].
Qed.

Lemma steady_decides : forall n o p o' p' s t s' t',
  has_places o s -> has_places p t -> has_places o' s' -> has_places p' t' ->
  same_places n o o' s s' -> same_places n p p' t t' -> steady n o p o' p' = true ->
  lex_lt s t -> lex_lt s' t'.
Proof.
  induction n as [|n IH]; [discriminate|].
  intros [|[a|] o] [|[b|] p] [|[a'|] o'] [|[b'|] p'] [|u s] [|v t] [|u' s'] [|v' t'];
    simpl; try tauto; try discriminate.
  - intros [-> Hs] [-> Ht] [-> Hs'] [-> Ht'] Hst Hst' Hsteady.
    destruct (Z.compare_spec a b) as [-> | Hlt | Hgt], (Z.compare_spec a' b') as [-> | Hlt' | Hgt'];
      try discriminate; intros [H | [He H]]; try (left; lia); try lia.
    right. split; [reflexivity | eapply (IH o p o' p'); eauto].
  - intros [-> Hs] Ht [-> Hs'] Ht' Hst [-> Hst'] Hsteady. apply andb_true_iff in Hsteady as [He Hsteady].
    apply Z.eqb_eq in He as ->. intros [H | [H1 H]]; [left; exact H | right; split; [exact H1|]].
    eapply (IH o p o' p'); eauto.
  - intros Hs [-> Ht] Hs' [-> Ht'] [-> Hst] Hst' Hsteady. apply andb_true_iff in Hsteady as [He Hsteady].
    apply Z.eqb_eq in He as ->. intros [H | [H1 H]]; [left; exact H | right; split; [exact H1|]].
    eapply (IH o p o' p'); eauto.
  - intros Hs Ht Hs' Ht' [-> Hst] [-> Hst'] Hsteady [H | [H1 H]]; [left; exact H | right; split; [exact H1|]].
    eapply (IH o p o' p'); eauto.
Qed.

Lemma in_both_common : forall (c : cell) l m,
  In c l -> In c m -> common (map fst l) (map fst m) = true.
Proof.
  intros c l m Hl Hm. apply existsb_exists. exists (fst c). split; [apply in_map, Hl|].
  apply existsb_exists. exists (fst c). split; [apply in_map, Hm | apply String.eqb_refl].
Qed.

Lemma in_both_subscripts : forall (c : cell) l m,
  In c l -> In c m -> In (snd c, snd c) (subscripts l m).
Proof.
  intros c l m Hl Hm. apply in_flat_map. exists c. split; [exact Hl|].
  apply in_flat_map. exists c. split; [exact Hm|]. rewrite String.eqb_refl. left. reflexivity.
Qed.

(** What the list says of an event. *)
Lemma outline_of : forall l ev, same_names l = true -> scheduled (map old l) ev ->
  exists o, In o l /\ domain (old o) (arguments_of ev) (hint_of ev) /\
    time_of (map old l) ev = schedule (old o) (arguments_of ev) (hint_of ev) /\
    time_of (map new l) ev = schedule (new o) (arguments_of ev) (hint_of ev) /\
    forall pick, cells_of pick (map use l) ev = Some (pick (use o) (arguments_of ev)).
Proof.
  induction l as [|o l IH]; simpl; intros ev Hnames Hev; [contradiction|].
  apply andb_true_iff in Hnames as [Ho Hl]. apply andb_true_iff in Ho as [Hn Hu].
  apply String.eqb_eq in Hn as ->. apply String.eqb_eq in Hu as ->.
  destruct (String.eqb (name_of ev) (name (old o))).
  - exists o. auto.
  - destruct (IH ev Hl Hev) as (o' & Hin & H). exists o'. auto.
Qed.

Lemma scheduled_before_and_after : forall l ev, same_names l = true -> all (map truthful l) ->
  scheduled (map old l) ev <-> scheduled (map new l) ev.
Proof.
  induction l as [|o l IH]; intros ev Hnames Htrue; [reflexivity|].
  cbn [map] in Htrue. apply all_cons in Htrue as [Ho Hl].
  apply andb_true_iff in Hnames as [Hn Hnames]. apply andb_true_iff in Hn as [Hn _].
  apply String.eqb_eq in Hn. simpl. rewrite Hn.
  destruct (String.eqb (name_of ev) (name (old o))); [apply (same_domain _ Ho) | exact (IH ev Hnames Hl)].
Qed.

Lemma conflict_touched : forall o p x y c,
  (In c (writes_of (use o) x) /\ In c (writes_of (use p) y)) \/
  (In c (writes_of (use o) x) /\ In c (reads_of (use p) y)) \/
  (In c (reads_of (use o) x) /\ In c (writes_of (use p) y)) ->
  touched_by_both (use o) (use p) x y.
Proof.
  intros o p x y c H. apply (any_in _ _ _ (snd c, snd c)); [|reflexivity]. rewrite !in_app_iff.
  destruct H as [[H1 H2] | [[H1 H2] | [H1 H2]]];
    [left | right; left | right; right]; apply in_both_subscripts; assumption.
Qed.

Lemma undecided_in : forall l o p,
  In o l -> In p l -> decided o p = false -> all (map (pair_kept l) (undecided l)) -> kept o p.
Proof.
  intros l o p Ho Hp Hnot H. apply In_nth_error in Ho as [i Hi]. apply In_nth_error in Hp as [j Hj].
  assert (Hin : In (i, j) (undecided l)).
  { apply filter_In. cbn [fst snd]. rewrite Hi, Hj, Hnot. split; [|reflexivity].
    apply in_prod; apply in_seq; split; try lia; apply nth_error_Some; congruence. }
  apply (all_in _ _ _ _ H) in Hin. unfold pair_kept in Hin. cbn [fst snd] in Hin.
  rewrite Hi, Hj in Hin. exact Hin.
Qed.

(** ** Legality by outlines *)
Theorem legal_by_outlines : forall l pairs,
  same_names l = true ->
  all (map truthful l) ->
  (forall a b, scheduled (map old l) a -> scheduled (map old l) b ->
     time_of (map old l) a = time_of (map old l) b -> a = b) ->
  undecided l = pairs ->
  all (map (pair_kept l) pairs) ->
  legal (accesses_of (map use l)) (map old l) (map new l).
Proof.
  intros l pairs Hnames Htrue Hdiffer <- Hpairs. constructor.
  - intros ev. apply scheduled_before_and_after; assumption.
  - intros a b Ha Hb _. apply Hdiffer; assumption.
  - intros a b Ha Hb Hconflict.
    destruct (outline_of l a Hnames Ha) as (o & Ho & Hdo & -> & -> & Hao).
    destruct (outline_of l b Hnames Hb) as (p & Hp & Hdp & -> & -> & Hbp).
    pose proof (all_in _ _ _ _ Htrue Ho) as [_ Hso Hoo].
    pose proof (all_in _ _ _ _ Htrue Hp) as [_ Hsp Hop].
    destruct (Hso _ _ Hdo) as [Hlo Heo]. destruct (Hsp _ _ Hdp) as [Hlp Hep].
    rewrite Heo in *. rewrite Hep in *. clear Heo Hep Hso Hsp Ha Hb.
    apply for_vectors_all with (x := arguments_of a) in Hoo; [|exact Hlo].
    apply for_vectors_all with (x := arguments_of b) in Hop; [|exact Hlp].
    destruct Hoo as ((Hro & Hwo) & (Hoo & Hno) & Hsto). destruct Hop as ((Hrp & Hwp) & (Hop & Hnp) & Hstp).
    destruct Hconflict as [c Hc]. cbn in Hc.
    assert (Hplain : forall X Y Z W : Prop, (X /\ Y /\ Z) \/ W -> (X /\ Y) \/ W) by tauto. apply Hplain in Hc. clear Hplain. rewrite !Hao, !Hbp in Hc. cbn [touches] in Hc.
    destruct (decided o p) eqn:Hdecided.
    + apply orb_true_iff in Hdecided as [Hdecided | Hdecided];
        [apply orb_true_iff in Hdecided as [Hdecided | Hdecided]|].
      * exfalso. unfold share in Hdecided. rewrite <- Hro, <- Hwo, <- Hrp, <- Hwp in Hdecided.
        apply negb_true_iff, orb_false_iff in Hdecided as [Hdecided H3].
        apply orb_false_iff in Hdecided as [H1 H2].
        destruct Hc as [[Hc1 Hc2] | [[Hc1 Hc2] | [Hc1 Hc2]]];
          rewrite (in_both_common c _ _ Hc1 Hc2) in *; discriminate.
      * destruct (text_order_decides _ _ _ _ Hoo Hop) as [Hlt Hgt].
        destruct (text_order_decides _ _ _ _ Hno Hnp) as [Hlt' _].
        destruct (text_order (old_places o) (old_places p)) as [[| |]|]; try discriminate.
        -- destruct (text_order (new_places o) (new_places p)) as [[| |]|]; try discriminate. auto.
        -- intros H. destruct (Hgt eq_refl H).
      * apply (fewer_places _ (Nat.min (stays o) (stays p))) in Hsto; [|lia].
        apply (fewer_places _ (Nat.min (stays o) (stays p))) in Hstp; [|lia].
        eapply steady_decides; eassumption.
    + pose proof (undecided_in l o p Ho Hp Hdecided Hpairs) as H.
      apply for_vectors_all with (x := arguments_of a) in H; [|exact Hlo].
      specialize (H Hdo).
      apply for_vectors_all with (x := arguments_of b) in H; [|exact Hlp].
      exact (H Hdp (conflict_touched o p _ _ c Hc)).
Qed.
