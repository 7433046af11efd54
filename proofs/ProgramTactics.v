(** * Tactics for the obligations of a program: [implements G n] *)

From Coq Require Import ZArith List String Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction Ordering Walking Arithmetic Unfolding.
Import ListNotations.
Open Scope Z_scope.

(** Four goals: [regular], [covers], [sound], [ordered]. *)
Ltac prove_implements :=
  apply program_correct; [reflexivity|]; known_parameters; constructor.

(** ** Regular loops *)

Lemma bound_none : exists last, forall v : Z, False -> v <= last.
Proof. exists 0. contradiction. Qed.
Lemma bound_le : forall b, exists last, forall v : Z, v <= b -> v <= last.
Proof. intros b. exists b. auto. Qed.
Lemma bound_lt : forall b, exists last, forall v : Z, v < b -> v <= last.
Proof. intros b. exists b. lia. Qed.
Lemma bound_eq : forall b, exists last, forall v : Z, v = b -> v <= last.
Proof. intros b. exists b. lia. Qed.
Lemma bound_left : forall P Q : Z -> Prop,
  (exists last, forall v, P v -> v <= last) -> exists last, forall v, P v /\ Q v -> v <= last.
Proof. intros P Q [b H]. exists b. intros v [Hv _]. auto. Qed.
Lemma bound_right : forall P Q : Z -> Prop,
  (exists last, forall v, Q v -> v <= last) -> exists last, forall v, P v /\ Q v -> v <= last.
Proof. intros P Q [b H]. exists b. intros v [_ Hv]. auto. Qed.
Lemma bound_either : forall P Q : Z -> Prop,
  (exists last, forall v, P v -> v <= last) -> (exists last, forall v, Q v -> v <= last) ->
  exists last, forall v, P v \/ Q v -> v <= last.
Proof.
  intros P Q [b Hb] [c Hc]. exists (Z.max b c). intros v [H | H].
  - apply Hb in H. lia.
  - apply Hc in H. lia.
Qed.

(** Where the iterator has a factor or a divisor below 2^32, it is not farther
    than this from where the two sides of the test meet. *)
Definition far (a : Z) : Z := 4294967296 * (Z.abs a + 1).
Lemma bound_far_le : forall A B : Z -> Z,
  (forall v, A v <= B v -> v <= far (B 0 - A 0)) -> exists last, forall v, A v <= B v -> v <= last.
Proof. eauto. Qed.
Lemma bound_far_lt : forall A B : Z -> Z,
  (forall v, A v < B v -> v <= far (B 0 - A 0)) -> exists last, forall v, A v < B v -> v <= last.
Proof. eauto. Qed.

Ltac bound_far :=
  match goal with
  | |- exists last, forall v, @?A v <= @?B v -> v <= last => apply (bound_far_le A B)
  | |- exists last, forall v, @?A v < @?B v -> v <= last => apply (bound_far_lt A B)
  end;
  cbv beta delta [far]; intros; arithmetic.

(** The last value of a loop is read off its test: an upper bound of the
    iterator, alone or among other conditions. *)
Ltac find_bound :=
  first [ apply bound_none | apply bound_le | apply bound_lt | apply bound_eq
        | apply bound_left; find_bound | apply bound_right; find_bound
        | apply bound_either; find_bound | bound_far ].

(** The usual test compares the iterator with what does not depend on it. *)
Ltac still_below :=
  match goal with
  | Hvw : ?v <= ?w, Hw : ?w <= ?b |- ?v <= ?b => exact (Z.le_trans _ _ _ Hvw Hw)
  | Hvw : ?v <= ?w, Hw : ?w < ?b |- ?v < ?b => exact (Z.le_lt_trans _ _ _ Hvw Hw)
  | H : ?a |- ?a => exact H
  end.

Ltac regular_leaf :=
  match goal with
  | |- True => exact I
  | |- exists _ : Z, _ => find_bound
  | |- _ => take_apart; first [still_below | arithmetic]
  end.

Ltac prove_regular :=
  compute_program;
  repeat match goal with
  | |- _ /\ _ => split
  | |- forall _, _ => intro
  end;
  regular_leaf.

(** ** Nothing missing *)

(** One goal for each statement, of the form
    [forall parameters, context -> forall arguments, domain -> reached ...]:
    in the program, the call has to be found that runs this instance. *)
Ltac prove_covers :=
  match goal with
  | |- forall ev, scheduled _ ev -> reached _ ?n ev =>
      let N := fresh "N" in let HN := fresh "HN" in
      remember n as N eqn:HN; apply for_each_statement; compute_covers;
      repeat match goal with |- _ /\ _ => split end;
      introduce; open_vectors; subst N
  end;
  try exact I;
  for_all_parameters.

(** This path leads to the call: [run_by [Child 0; Iterate (i / 32); Iterate i]]. *)
Tactic Notation "run_by" uconstr(path) :=
  let way := constr:(path : list step) in apply (leads_reached way); compute_formula;
  repeat match goal with H : _ /\ _ |- _ => destruct H | |- _ /\ _ => split end;
  first [exact I | reflexivity | assumption | arithmetic].
(** There is no such instance. *)
Ltac no_instance := exfalso; formula_holds.
(** Distinguish two cases of the instance. *)
Ltac cases P :=
  let H := fresh "H" in assert (H : P \/ ~ P) by arithmetic; destruct H.

(** ** Nothing extra *)

(** One formula for each call. *)
Ltac each_call_of P :=
  let Q := fresh "P" in let HQ := fresh "HP" in
  remember P as Q eqn:HQ; compute_program;
  repeat match goal with |- _ /\ _ => split | |- True => exact I | |- forall _, _ => intro end;
  subst Q.

Ltac prove_sound :=
  match goal with
  | |- forall ev, reached ?e ?n ev -> scheduled ?P ev =>
      apply (each_call_reached (scheduled P) n e); each_call_of P
  end;
  take_apart; formula_holds.

(** ** Order, and nothing twice *)

Ltac walk_pairs :=
  compute_program;
  repeat match goal with
  | |- True => exact I
  | |- _ /\ _ => split
  | |- forall _, _ => intro
  end;
  take_apart.

(** Time increases strictly from each execution to every later one: all pairs
    of calls are compared.  Short to write, slow with many calls. *)
Ltac walk_pairs_of P :=
  let Q := fresh "P" in let HQ := fresh "HP" in
  remember P as Q eqn:HQ; walk_pairs; subst Q.
Ltac pairs_of tactic_for_pair :=
  match goal with
  | |- context [after ?P] => walk_pairs_of P
  | |- context [sooner ?P] => walk_pairs_of P
  end;
  tactic_for_pair.

Ltac earlier := try apply strictly_after; compute_formula; lexicographic.
Ltac order_pairs := pairs_of earlier.
Ltac prove_order := order_pairs.

(** The schedule leaves some order open: no event twice, and no later event
    with an earlier time. *)
Ltac not_later :=
  split;
  [ let H := fresh "H" in intro H; apply event_inv in H; take_apart; arithmetic
  | compute_formula; lexicographic ].
Ltac order_pairs_weak := pairs_of not_later.
Ltac prove_order_weak := order_pairs_weak.

(** The same, step by step down the tree, where there are many calls: every
    call is compared with the iterators around it.  [for_all_parameters] first,
    then [intros], where parameters have to be named.

    - [order_slots [0; c0] (Loop [1] Leaf)]: in the tree below this node, time
      starts with [0; c0] and has the places that [slots] describes.
    - [order_loop [c0; c1] as c2]: in the body of this loop, time starts with
      [c0; c1; c2].
    - [order_block [[c0; 1]; [c0; 2]]]: of the three children of this block,
      the first runs before time [c0; 1], the second from then on and before
      [c0; 2], the third from then on.  One goal for each child.
    - [order_iterations as c2], [order_siblings]: the same where this is not so;
      all pairs of calls in different iterations or children are compared.
      [order_iterations_weak as c2], [order_siblings_weak] where some have the
      same time.
    - [order_if], [order_let], [order_call]: the other nodes.
    - [order_pairs], [order_pairs_weak]: compare all pairs of calls below this node. *)
Ltac order_leaves :=
  let ev := fresh "ev" in let H := fresh "H" in
  match goal with
  | |- context [time_of ?P _] =>
      let Q := fresh "P" in let HQ := fresh "HP" in
      remember P as Q eqn:HQ; intros ev H; revert H; compute_program; intro H; take_apart; subst Q
  end;
  compute_formula.

Ltac order_by theorem more :=
  match goal with
  | |- ordered (after ?P) _ _ => apply (theorem P (after P) more); [exact (strictly_after P) | |]
  | |- ordered (sooner ?P) _ _ => apply (theorem P (sooner P) more); [exact (fun _ _ H => H) | |]
  end.

Ltac slots_by P R HR known s :=
  apply (placed_ordered P R HR s known);
  [reflexivity | each_call_of P; take_apart; compute_formula; prepare; lia].
Tactic Notation "order_slots" uconstr(known) constr(s) :=
  let places := constr:(known : list Z) in
  match goal with
  | |- ordered (after ?P) _ _ => slots_by P (after P) (strictly_after P) places s
  | |- ordered (sooner ?P) _ _ => slots_by P (sooner P) (fun (a b : event) (H : sooner P a b) => H) places s
  end.

Tactic Notation "order_loop" uconstr(common) "as" ident(v) :=
  let Hv := fresh "H" in let Hc := fresh "H" in
  let places := constr:(common : list Z) in order_by order_loop places;
  [ intros v Hv Hc; compute_formula_in Hv; compute_formula_in Hc; order_leaves; prepare;
    repeat match goal with |- _ /\ _ => split | |- True => exact I end; lia
  | intros v Hv Hc; compute_formula_in Hv; compute_formula_in Hc ].

Tactic Notation "order_block" uconstr(cuts) :=
  let times := constr:(cuts : list (list Z)) in order_by order_block times;
  [ cbn [cut_by];
    repeat match goal with
    | |- True => exact I
    | |- _ /\ _ => split
    | |- forall ev, reached _ _ ev -> _ => order_leaves; split_goal; lexicographic
    | |- ~ lex_lt _ _ => cbn [lex_lt]; lexicographic
    end
  | cbn [map all]; repeat match goal with |- _ /\ _ => split end ].

Ltac iterations_by pairs v :=
  let Hv := fresh "H" in let Hc := fresh "H" in
  apply order_iterations;
  [ pairs | intros v Hv Hc; compute_formula_in Hv; compute_formula_in Hc ].
Tactic Notation "order_iterations" "as" ident(v) := iterations_by order_pairs v.
Tactic Notation "order_iterations_weak" "as" ident(v) := iterations_by order_pairs_weak v.

Ltac siblings_by pairs :=
  apply order_siblings;
  [ pairs | cbn [map all]; repeat match goal with |- _ /\ _ => split end ].
Ltac order_siblings := siblings_by order_pairs.
Ltac order_siblings_weak := siblings_by order_pairs_weak.

Ltac order_if :=
  let H := fresh "H" in split; intro H; compute_formula_in H.
Ltac order_let :=
  match goal with
  | |- ordered ?R ?e (Let ?x ?a ?n) => change (ordered R ((x, eval e a) :: e) n)
  | |- ordered ?R ?e (Mark _ ?n) => change (ordered R e n)
  end.
Ltac order_call := exact I.
