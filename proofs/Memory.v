(** * Reordering operations that do not touch each other

    Bernstein's conditions.  Operations are of any type: the statement
    instances of a program, or occurrences of them.  Operations that combine a
    value into a cell by the same operator, such as [s = s + x], do not conflict
    on that cell where the order of combining is said not to matter. *)

From Coq Require Import List String ZArith Permutation.
Import ListNotations.

(** An array cell: the array's name and the subscripts; a scalar has none. *)
Definition cell := (string * list Z)%type.

Section Reordering.
  Variable operation : Type.
  Variable value : Type.
  Variables reads writes : operation -> cell -> Prop.
  (** The operator by which an operation combines a value into the cells it
      writes, where it does only that; [reads] is then what the value is
      computed from. *)
  Variable combines : operation -> option string.
  Variable combine : string -> value -> value -> value.

  Definition memory := cell -> value.

  (** Two memories are the same when every cell is. *)
  Definition same (m m' : memory) : Prop := forall c, m c = m' c.

  (** What an operation does to the memory.  Nothing is known about it except
      what its read and write sets say:
      - a cell it is not said to write keeps its value;
      - what it leaves in a cell depends only on the cells it is said to read;
        or it leaves the cell alone, for a write set may say too much; or it
        combines what is in the cell with something that depends only on them;
      - values may be combined in any order.  Where no operation combines, this
        says nothing; where one does, it allows reassociation. *)
  Record respects (effect : operation -> memory -> memory) : Prop := {
    frame : forall o m c, writes o c \/ effect o m c = m c;
    determined : forall o m m', (forall c, reads o c -> m c = m' c) ->
      forall c, (combines o = None /\ effect o m c = effect o m' c) \/ (effect o m c = m c /\ effect o m' c = m' c) \/
        exists k x, combines o = Some k /\ effect o m c = combine k (m c) x /\ effect o m' c = combine k (m' c) x;
    any_order : forall k y x x', combine k (combine k y x) x' = combine k (combine k y x') x
  }.

  (** Both combine values by the same operator. *)
  Definition both_combine (a b : operation) : Prop := exists k, combines a = Some k /\ combines b = Some k.

  (** Two operations conflict when both touch a cell and one writes it. *)
  Definition conflict (a b : operation) : Prop :=
    exists c, (writes a c /\ writes b c /\ ~ both_combine a b) \/ (writes a c /\ reads b c) \/ (reads a c /\ writes b c).

  (** [a] comes before [b] in [l]. *)
  Definition precedes (l : list operation) (a b : operation) : Prop :=
    exists l1 l2 l3, l = l1 ++ a :: l2 ++ b :: l3.

  Variable effect : operation -> memory -> memory.
  Hypothesis effect_respects : respects effect.

  (** Running a list of operations, the first one first. *)
  Definition run (l : list operation) (m : memory) : memory :=
    fold_left (fun m o => effect o m) l m.

  Lemma effect_same : forall o m m', same m m' -> same (effect o m) (effect o m').
  Proof.
    intros o m m' H c.
    destruct (determined _ effect_respects o m m' (fun c _ => H c) c) as [[_ H1] | [[H1 H2] | (k & x & _ & H1 & H2)]];
      rewrite ?H1, ?H2, ?H; reflexivity.
  Qed.

  Lemma run_same : forall l m m', same m m' -> same (run l m) (run l m').
  Proof. induction l as [|o l IH]; simpl; intros m m' H; [exact H | apply IH, effect_same, H]. Qed.

  Lemma same_trans : forall m1 m2 m3, same m1 m2 -> same m2 m3 -> same m1 m3.
  Proof. intros m1 m2 m3 H1 H2 c. rewrite H1. apply H2. Qed.

  Lemma same_sym : forall m m', same m m' -> same m' m.
  Proof. intros m m' H c. symmetry. apply H. Qed.

  Lemma untouched : forall o m c, ~ writes o c -> effect o m c = m c.
  Proof. intros o m c H. destruct (frame _ effect_respects o m c); [contradiction | assumption]. Qed.

  Lemma conflict_sym : forall a b, conflict a b -> conflict b a.
  Proof.
    intros a b [c H]. exists c. assert (Hboth : both_combine b a -> both_combine a b) by (intros (k & H1 & H2); exists k; auto). tauto.
  Qed.

  (** Two operations that do not conflict can change places. *)
  Lemma swap : forall a b m,
    ~ conflict a b -> same (effect b (effect a m)) (effect a (effect b m)).
  Proof.
    intros a b m Hno c.
    assert (Hno' : ~ conflict b a) by (intros H; apply Hno, conflict_sym, H).
    assert (Ha : forall r, reads a r -> m r = effect b m r).
    { intros r Hr. symmetry. apply untouched. intros Hw. apply Hno. exists r. auto. }
    assert (Hb : forall r, reads b r -> m r = effect a m r).
    { intros r Hr. symmetry. apply untouched. intros Hw. apply Hno'. exists r. auto. }
    destruct (frame _ effect_respects a m c) as [Hwa | Hwa], (frame _ effect_respects b m c) as [Hwb | Hwb],
      (frame _ effect_respects a (effect b m) c) as [Hwa' | Hwa'], (frame _ effect_respects b (effect a m) c) as [Hwb' | Hwb'];
      try congruence;
      destruct (determined _ effect_respects a m (effect b m) Ha c) as [[Hka H1] | [[H1 H2] | (k & x & Hka & H1 & H2)]];
      destruct (determined _ effect_respects b m (effect a m) Hb c) as [[Hkb H3] | [[H3 H4] | (k' & x' & Hkb & H3 & H4)]];
      try congruence.
    all: try (exfalso; apply Hno; exists c; left; repeat split; try assumption; intros (j & J1 & J2); congruence).
    all: destruct (string_dec k k') as [<- | Hk];
      [ rewrite H4, H2, H1, H3; apply (any_order _ effect_respects)
      | exfalso; apply Hno; exists c; left; repeat split; try assumption; intros (j & J1 & J2); congruence ].
  Qed.

  (** An operation can move in front of all it does not conflict with. *)
  Lemma move_to_front : forall a l r m,
    (forall b, In b l -> ~ conflict a b) -> same (run (l ++ a :: r) m) (run (a :: l ++ r) m).
  Proof.
    induction l as [|b l IH]; simpl; intros r m H; [intros c; reflexivity|].
    eapply same_trans; [apply (IH r (effect b m)); auto|].
    simpl. apply run_same. apply same_sym, swap, H. auto.
  Qed.

  Lemma precedes_cons : forall x l a b, precedes l a b -> precedes (x :: l) a b.
  Proof. intros x l a b (l1 & l2 & l3 & ->). exists (x :: l1), l2, l3. reflexivity. Qed.

  Lemma precedes_head : forall a l b, In b l -> precedes (a :: l) a b.
  Proof. intros a l b H. apply in_split in H as (l2 & l3 & ->). exists [], l2, l3. reflexivity. Qed.

  Lemma precedes_in : forall l a b, precedes l a b -> In a l /\ In b l.
  Proof.
    intros l a b (l1 & l2 & l3 & ->).
    split; apply in_or_app; right; [left; reflexivity | right; apply in_elt].
  Qed.

  Lemma precedes_tail : forall x l a b, precedes (x :: l) a b -> a = x \/ precedes l a b.
  Proof.
    intros x l a b ([|y l1] & l2 & l3 & H); injection H as -> ->; [left; reflexivity|].
    right. exists l1, l2, l3. reflexivity.
  Qed.

  Lemma precedes_later : forall x l a b, precedes (x :: l) a b -> In b l.
  Proof.
    intros x l a b ([|y l1] & l2 & l3 & H); injection H as _ ->; [apply in_elt|].
    apply in_or_app. right. right. apply in_elt.
  Qed.

  Lemma precedes_asym : forall l a b, NoDup l -> precedes l a b -> ~ precedes l b a.
  Proof.
    induction l as [|x l IH]; intros a b Hl Hab Hba.
    - destruct Hab as ([|? ?] & ? & ? & H); discriminate.
    - inversion Hl as [|? ? Hx Hl']; subst.
      destruct (precedes_tail _ _ _ _ Hab) as [-> | Hab'];
        [exact (Hx (precedes_later _ _ _ _ Hba))|].
      destruct (precedes_tail _ _ _ _ Hba) as [-> | Hba'];
        [exact (Hx (precedes_later _ _ _ _ Hab))|].
      exact (IH a b Hl' Hab' Hba').
  Qed.

  Lemma precedes_remove : forall l1 x l2 a b,
    a <> x -> b <> x -> precedes (l1 ++ x :: l2) a b -> precedes (l1 ++ l2) a b.
  Proof.
    induction l1 as [|y l1 IH]; simpl; intros x l2 a b Ha Hb H.
    - destruct (precedes_tail _ _ _ _ H) as [-> | H']; [congruence | exact H'].
    - destruct (precedes_tail _ _ _ _ H) as [-> | H'].
      + apply precedes_head. apply precedes_later in H.
        apply in_app_iff in H as [H | [H | H]]; [| congruence |]; apply in_or_app; auto.
      + apply precedes_cons. eapply IH; eauto.
  Qed.

  (** ** The reordering theorem

      Two traces of the same operations, each once, in which every conflicting
      pair has the same order, lead from any memory to the same memory.  (An
      operation that is executed several times counts as several operations:
      take occurrences for [operation].) *)
  Theorem reordering : forall t1 t2,
    NoDup t1 -> Permutation t1 t2 ->
    (forall a b, precedes t1 a b -> conflict a b -> precedes t2 a b) ->
    forall m, same (run t1 m) (run t2 m).
  Proof.
    induction t1 as [|a t1 IH]; intros t2 Hnd Hperm Hkeep m.
    - apply Permutation_nil in Hperm as ->. intros c. reflexivity.
    - assert (Hnd2 : NoDup t2) by (eapply Permutation_NoDup; eauto).
      assert (Hin : In a t2) by (eapply Permutation_in; [exact Hperm | left; reflexivity]).
      apply in_split in Hin as (l & r & ->).
      assert (Hperm' : Permutation t1 (l ++ r)) by (eapply Permutation_cons_app_inv; eauto).
      inversion Hnd as [|? ? Ha Hnd1]; subst.
      assert (Hfree : forall b, In b l -> ~ conflict a b).
      { intros b Hb Hc.
        assert (Hbt : In b t1).
        { eapply Permutation_in; [symmetry; exact Hperm'|]. apply in_app_iff. auto. }
        assert (Hab : precedes (l ++ a :: r) a b) by (apply Hkeep; [apply precedes_head, Hbt | exact Hc]).
        apply (precedes_asym _ _ _ Hnd2 Hab).
        apply in_split in Hb as (k1 & k2 & ->). exists k1, k2, r. rewrite <- app_assoc. reflexivity. }
      eapply same_trans; [|apply same_sym, move_to_front, Hfree].
      simpl. apply IH; [exact Hnd1 | exact Hperm'|].
      intros x y Hxy Hc. destruct (precedes_in _ _ _ Hxy) as [Hx Hy].
      eapply precedes_remove; [| |apply Hkeep; [apply precedes_cons, Hxy | exact Hc]];
        intros ->; contradiction.
  Qed.
End Reordering.
