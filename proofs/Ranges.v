(** * Machine integers

    [Loop.v] computes with integers of any size.  Here a program is run in a
    range, such as that of [int]: no value that it computes on the way, in
    starts, tests, steps and arguments, leaves it.  [check_range] checks that
    this is so for all parameters of a specification's context
    ([check_range_runs]); the meaning in [Loop.v] is then that of a machine. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction Parallel.
From Loopwright Require Import Linear Symbolic Specification Conditions Reaching Walk Coverage Checker.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** What is computed on the way *)

(** The sums of the first terms: C adds from left to right. *)
Fixpoint partial_sums (before l : list expr) : list expr :=
  match l with
  | [] => []
  | a :: l' => Sum (before ++ [a]) :: partial_sums (before ++ [a]) l'
  end.

(** All expressions whose values are computed for [a].  A quotient that is
    rounded down may be computed from a dividend that is smaller by the divisor;
    both branches of a conditional count. *)
Fixpoint computed (a : expr) : list expr :=
  match a with
  | Int _ | Var _ => [a]
  | Sum l => partial_sums [] l ++ flat_map computed l
  | Scaled k b => a :: Int k :: computed b
  | FloorDiv b d => a :: Int (Z.pos d) :: Sum [b; Int (- Z.pos d)] :: computed b
  | TruncDiv b d | Rem b d => a :: Int (Z.pos d) :: computed b
  | Min l | Max l => a :: flat_map computed l
  | Select t b c => a :: computed_test t ++ computed b ++ computed c
  end
with computed_test (t : test) : list expr :=
  match t with
  | Compare _ a b => computed a ++ computed b
  | And l | Or l => flat_map computed_test l
  | Not u => computed_test u
  end.

Section Range.
  Variables low high : Z.

  Definition in_range (z : Z) : Prop := low <= z <= high.
  Definition all_in_range (e : env) (l : list expr) : Prop := Forall (fun a => in_range (eval e a)) l.

  (** The rules of [runs], with what is computed. *)
  Inductive runs_in_range : env -> node -> trace -> Prop :=
  | range_call e f args hint : all_in_range e (flat_map computed args) ->
      runs_in_range e (Call f args hint) [Event f (map (eval e) args) (map (eval e) hint)]
  | range_block_nil e : runs_in_range e (Block []) []
  | range_block_cons e c cs t1 t2 :
      runs_in_range e c t1 -> runs_in_range e (Block cs) t2 -> runs_in_range e (Block (c :: cs)) (t1 ++ t2)
  | range_then e c a b t : all_in_range e (computed_test c) ->
      decide e c = true -> runs_in_range e a t -> runs_in_range e (If c a b) t
  | range_else e c a b t : all_in_range e (computed_test c) ->
      decide e c = false -> runs_in_range e b t -> runs_in_range e (If c a b) t
  | range_for_end e x a c s b : all_in_range e (computed a) -> all_in_range ((x, eval e a) :: e) (computed_test c) ->
      decide ((x, eval e a) :: e) c = false -> runs_in_range e (For x a c s b) []
  | range_for_step e x a c s b t1 t2 : all_in_range e (computed a) -> all_in_range ((x, eval e a) :: e) (computed_test c) ->
      decide ((x, eval e a) :: e) c = true ->
      runs_in_range ((x, eval e a) :: e) b t1 ->
      runs_in_range e (For x (Int (eval e a + Z.pos s)) c s b) t2 ->
      runs_in_range e (For x a c s b) (t1 ++ t2)
  | range_let e x a b t : all_in_range e (computed a) ->
      runs_in_range ((x, eval e a) :: e) b t -> runs_in_range e (Let x a b) t
  | range_mark e text b t : runs_in_range e b t -> runs_in_range e (Mark text b) t.

  Theorem in_range_runs : forall e n t, runs_in_range e n t -> runs e n t.
  Proof. induction 1; econstructor; eassumption. Qed.

  (** ** When a program runs in range *)

  Fixpoint fits (e : env) (n : node) : Prop :=
    match n with
    | Call f args hint => all_in_range e (flat_map computed args)
    | Block ns => all (map (fits e) ns)
    | If t a b => all_in_range e (computed_test t) /\ (holds e t -> fits e a) /\ (~ holds e t -> fits e b)
    | For x a t d b =>
        all_in_range e (computed a) /\ all_in_range ((x, eval e a) :: e) (computed_test t) /\
        forall v, strided (eval e a) d v -> holds ((x, v) :: e) t ->
          in_range (v + Z.pos d) /\ all_in_range ((x, v + Z.pos d) :: e) (computed_test t) /\ fits ((x, v) :: e) b
    | Let x a b => all_in_range e (computed a) /\ fits ((x, eval e a) :: e) b
    | Mark _ b => fits e b
    end.

  Theorem fits_runs : forall e n t, runs e n t -> fits e n -> runs_in_range e n t.
  Proof.
    induction 1 as [e f args hint|e|e c cs t1 t2 _ IH1 _ IH2|e c a b t Hc _ IH|e c a b t Hc _ IH
                   |e x a c s b Hc|e x a c s b t1 t2 Hc _ IH1 _ IH2|e x a b t _ IH|e text b t _ IH]; intros H; cbn [fits] in H.
    - constructor. exact H.
    - constructor.
    - cbn [map] in H. apply all_cons in H as [H1 H2]. constructor; [exact (IH1 H1) | exact (IH2 H2)].
    - destruct H as (H1 & H2 & _). apply range_then; [exact H1 | exact Hc | apply IH, H2, decide_holds, Hc].
    - destruct H as (H1 & _ & H2). apply range_else; [exact H1 | exact Hc | apply IH, H2, decide_fails, Hc].
    - destruct H as (H1 & H2 & _). apply range_for_end; assumption.
    - destruct H as (H1 & H2 & H3). apply decide_holds in Hc as Hh.
      destruct (H3 _ (strided_refl _ _) Hh) as (Hnext & Htest & Hbody).
      apply range_for_step; [exact H1 | exact H2 | exact Hc | exact (IH1 Hbody)|]. apply IH2. cbn [fits eval computed].
      split; [constructor; [exact Hnext | constructor] | split; [exact Htest|]].
      intros v Hv. apply H3, strided_later, Hv.
    - destruct H as [H1 H2]. apply range_let; [exact H1 | exact (IH H2)].
    - apply range_mark, IH, H.
  Qed.

  (** ** The conditions *)

  Definition value_goals (c : scope) (s : state) (l : list expr) : list goal :=
    flat_map (fun a => let (m, s1) := linear c a s in
      [exclude (less m (number low)) s1; exclude (less (number high) m) s1]) l.

  Fixpoint range_goals (c : scope) (s : state) (n : node) : list goal :=
    match n with
    | Call f args hint => value_goals c s (flat_map computed args)
    | Block ns => flat_map (range_goals c s) ns
    | If t a b =>
        let (f, s1) := known c true t s in let (f', s1') := known c false t s in
        value_goals c s (computed_test t) ++ range_goals c (assume f s1) a ++ range_goals c (assume f' s1') b
    | For x a t d b =>
        let (m, s0) := linear c a s in
        let (v, s1) := fresh s in
        let s2 := in_loop c x a v t d s1 in
        let next := (x, plus v (number (Z.pos d))) :: c in
        value_goals c s (computed a) ++ value_goals ((x, m) :: c) s0 (computed_test t) ++
        value_goals next s2 (Var x :: computed_test t) ++ range_goals ((x, v) :: c) s2 b
    | Let x a b =>
        let (m, s1) := linear c a s in value_goals c s (computed a) ++ range_goals ((x, m) :: c) s1 b
    | Mark _ b => range_goals c s b
    end.

  Lemma value_goals_sound : forall l c s e v, Forall refuted (value_goals c s l) ->
    agrees e c v -> models v s -> all_in_range e l.
  Proof.
    induction l as [|a l IH]; intros c s e v H Hc Hm; [constructor|]. cbn [value_goals flat_map] in H.
    destruct (linear c a s) as [m s1] eqn:E. inversion H as [|? ? Hlow H1]; subst. inversion H1 as [|? ? Hhigh H2]; subst.
    destruct (linear_models _ _ _ _ _ _ _ E Hc Hm) as (w & Hm1 & Hd).
    constructor; [|exact (IH _ _ _ _ H2 Hc Hm)]. unfold in_range.
    destruct (Z_lt_le_dec (eval e a) low) as [Hl | Hl].
    { destruct (refuted_state _ _ _ Hlow Hm1 (less_true _ _ _ _ _ Hd (denotes_number _ _) Hl)). }
    destruct (Z_lt_le_dec high (eval e a)) as [Hh | Hh]; [|lia].
    destruct (refuted_state _ _ _ Hhigh Hm1 (less_true _ _ _ _ _ (denotes_number _ _) Hd Hh)).
  Qed.

  Theorem range_sound : forall n c s e v, Forall refuted (range_goals c s n) -> agrees e c v -> models v s -> fits e n.
  Proof.
    induction n as [f args hint|ns IH|t a b IHa IHb|x a t d b IHb|x a b IHb|text b IHb] using node_induction;
      intros c s e v H Hc Hm; cbn [range_goals fits] in *.
    - exact (value_goals_sound _ _ _ _ _ H Hc Hm).
    - induction IH as [|n ns Hn _ IHns]; [exact I|]. cbn [flat_map map] in *. apply Forall_app in H as [H1 H2].
      apply all_cons. split; [exact (Hn _ _ _ _ H1 Hc Hm) | exact (IHns H2)].
    - destruct (known c true t s) as [f s1] eqn:E1. destruct (known c false t s) as [f' s1'] eqn:E1'.
      apply Forall_app in H as [H0 H]. apply Forall_app in H as [H1 H2].
      split; [exact (value_goals_sound _ _ _ _ _ H0 Hc Hm)|]. split; intros Ht.
      + destruct (known_models _ _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hf). apply decide_holds in Ht.
        exact (IHa _ _ _ _ H1 (agrees_more _ _ _ w Hc) (assume_models _ _ _ Hm1 (Hf Ht))).
      + destruct (known_models _ _ _ _ _ _ _ _ E1' Hc Hm) as (w & Hm1 & Hf). apply decide_fails in Ht.
        exact (IHb _ _ _ _ H2 (agrees_more _ _ _ w Hc) (assume_models _ _ _ Hm1 (Hf Ht))).
    - destruct (linear c a s) as [m s0] eqn:E0. destruct (fresh s) as [lv s1] eqn:E1.
      apply Forall_app in H as [H1 H]. apply Forall_app in H as [H2 H]. apply Forall_app in H as [H3 H4].
      destruct (linear_models _ _ _ _ _ _ _ E0 Hc Hm) as (w0 & Hm0 & Hd).
      split; [exact (value_goals_sound _ _ _ _ _ H1 Hc Hm) | split].
      { exact (value_goals_sound _ _ _ _ _ H2 (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w0 Hc) Hd) Hm0). }
      intros y Hy Ht. destruct (fresh_models _ _ y _ _ E1 Hm) as [Hm1 Hv].
      pose proof (agrees_more _ _ _ [y] Hc) as Hc1.
      destruct (in_loop_models _ _ x _ _ _ _ _ _ _ Hm1 Hc1 Hv Hy Ht) as [w Hm2].
      pose proof (agrees_more _ _ _ w Hc1) as Hc2. pose proof (denotes_more _ w _ _ Hv) as Hv2.
      pose proof (value_goals_sound _ _ _ _ _ H3 (agrees_cons _ _ _ x _ _ Hc2
        (denotes_plus _ _ _ _ _ Hv2 (denotes_number _ (Z.pos d)))) Hm2) as Hnext.
      inversion Hnext as [|? ? Hvar Htests]; subst. cbn [eval lookup] in Hvar. rewrite String.eqb_refl in Hvar.
      split; [exact Hvar | split; [exact Htests|]].
      exact (IHb _ _ _ _ H4 (agrees_cons _ _ _ x _ _ Hc2 Hv2) Hm2).
    - destruct (linear c a s) as [m s1] eqn:E1. apply Forall_app in H as [H1 H2].
      destruct (linear_models _ _ _ _ _ _ _ E1 Hc Hm) as (w & Hm1 & Hd).
      split; [exact (value_goals_sound _ _ _ _ _ H1 Hc Hm)|].
      exact (IHb _ _ _ _ H2 (agrees_cons _ _ _ x _ _ (agrees_more _ _ _ w Hc) Hd) Hm1).
    - exact (IHb _ _ _ _ H Hc Hm).
  Qed.
End Range.

(** ** The theorem *)

Definition all_range_goals (G : specification) (low high : Z) (n : node) : list goal :=
  let (c, s) := beginning G in range_goals low high c s n.

Definition check_range (G : specification) (low high : Z) (n : node) (cs : list certificate) : bool :=
  closed (sizes G) n && refutes_all cs (all_range_goals G low high n).

(** Whatever the parameters, a program that passes the check computes nothing
    out of range in any run that it has. *)
Theorem check_range_runs : forall G low high n cs, check_range G low high n cs = true ->
  forall p, context (meant G) p -> forall t, runs (environment (meant G) p) n t ->
  runs_in_range low high (environment (meant G) p) n t.
Proof.
  intros G low high n cs H p Hp t Ht. apply andb_prop in H as [_ H]. apply refutes_all_sound in H. unfold all_range_goals in H.
  destruct (beginning G) as [c s] eqn:E. destruct (beginning_models _ _ _ _ E Hp) as (v & Hm & Hc).
  exact (fits_runs _ _ _ _ _ Ht (range_sound _ _ _ _ _ _ _ H Hc Hm)).
Qed.
