(** * Loops whose iterations may run in any order

    [runs] takes a loop one iteration after the other.  A loop below the mark
    [parallel] promises more: that its iterations do not touch each other, so
    that they may be shared out among threads.  Here is what such a program
    may do, and the theorem that it makes no difference.

    The steps of a run are whole statement instances.  Where no two of them
    that run at the same time conflict there is no race, and what a machine
    does to the memory inside of them cannot be seen from the others. *)

From Coq Require Import ZArith List String Lia.
From Loopwright Require Import Loop Executed Memory Transformation Formulas Reduction.
Import ListNotations.
Open Scope Z_scope.

(** ** What a program with parallel loops may do *)

(** [t] is made of [l] and [r], each in its own order. *)
Inductive interleaved {A : Type} : list A -> list A -> list A -> Prop :=
| no_step : interleaved [] [] []
| left_step a l r t : interleaved l r t -> interleaved (a :: l) r (a :: t)
| right_step a l r t : interleaved l r t -> interleaved l (a :: r) (a :: t).

Definition parallel : string := "parallel".

(** [may_run e n t]: the rules of [runs], and two for a parallel loop, in which
    the steps of the first iteration come anywhere among those of the others. *)
Inductive may_run : env -> node -> trace -> Prop :=
| may_call e f args hint :
    may_run e (Call f args hint) [Event f (map (eval e) args) (map (eval e) hint)]
| may_block_nil e :
    may_run e (Block []) []
| may_block_cons e c cs t1 t2 :
    may_run e c t1 -> may_run e (Block cs) t2 -> may_run e (Block (c :: cs)) (t1 ++ t2)
| may_then e c a b t :
    decide e c = true -> may_run e a t -> may_run e (If c a b) t
| may_else e c a b t :
    decide e c = false -> may_run e b t -> may_run e (If c a b) t
| may_for_end e x a c s b :
    decide ((x, eval e a) :: e) c = false -> may_run e (For x a c s b) []
| may_for_step e x a c s b t1 t2 :
    decide ((x, eval e a) :: e) c = true ->
    may_run ((x, eval e a) :: e) b t1 ->
    may_run e (For x (Int (eval e a + Z.pos s)) c s b) t2 ->
    may_run e (For x a c s b) (t1 ++ t2)
| may_let e x a b t :
    may_run ((x, eval e a) :: e) b t -> may_run e (Let x a b) t
| may_mark e text b t :
    may_run e b t -> may_run e (Mark text b) t
| may_parallel_end e x a c s b :
    decide ((x, eval e a) :: e) c = false -> may_run e (Mark parallel (For x a c s b)) []
| may_parallel_step e x a c s b t1 t2 t :
    decide ((x, eval e a) :: e) c = true ->
    may_run ((x, eval e a) :: e) b t1 ->
    may_run e (Mark parallel (For x (Int (eval e a + Z.pos s)) c s b)) t2 ->
    interleaved t1 t2 t ->
    may_run e (Mark parallel (For x a c s b)) t.

(** One iteration after the other is one of the ways. *)
Theorem runs_may_run : forall e n t, runs e n t -> may_run e n t.
Proof. induction 1; econstructor; eassumption. Qed.

(** ** When it makes no difference *)

(** No two iterations [v] and [w] of this loop execute events that [C] relates. *)
Definition iterations_apart (C : event -> event -> Prop) (e : env) (n : node) : Prop :=
  match n with
  | For x i c s b => forall v w,
      strided (eval e i) s v -> holds ((x, v) :: e) c ->
      strided (eval e i) s w -> holds ((x, w) :: e) c -> v < w ->
      forall a a', reached ((x, v) :: e) b a -> reached ((x, w) :: e) b a' -> ~ C a a'
  | _ => True
  end.

(** The same of every loop of [n] that is marked. *)
Fixpoint independent (C : event -> event -> Prop) (e : env) (n : node) : Prop :=
  match n with
  | Call _ _ _ => True
  | Block cs => all (map (independent C e) cs)
  | If c a b => (holds e c -> independent C e a) /\ (~ holds e c -> independent C e b)
  | For x i c s b => forall v,
      strided (eval e i) s v -> holds ((x, v) :: e) c -> independent C ((x, v) :: e) b
  | Let x i b => independent C ((x, eval e i) :: e) b
  | Mark text b => (if String.eqb text parallel then iterations_apart C e b else True) /\ independent C e b
  end.

(** ** The rest of a loop, from its second iteration on *)

Lemma strided_later : forall first s v, strided (first + Z.pos s) s v -> strided first s v /\ first < v.
Proof.
  intros first s v H. apply strided_steps in H as (k & Hk & ->).
  split; [apply strided_steps; exists (k + 1)|]; lia.
Qed.

Lemma regular_rest : forall e x i c s b,
  regular e (For x i c s b) -> regular e (For x (Int (eval e i + Z.pos s)) c s b).
Proof.
  intros e x i c s b (Hdown & Hlast & Hbody). cbn [regular eval]. split; [|split; [exact Hlast|]].
  - intros v w Hv Hw. apply Hdown; apply strided_later; assumption.
  - intros v Hv. apply Hbody, strided_later, Hv.
Qed.

Lemma independent_rest : forall C e x i c s b,
  independent C e (For x i c s b) -> independent C e (For x (Int (eval e i + Z.pos s)) c s b).
Proof. intros C e x i c s b H. cbn [independent eval]. intros v Hv. apply H, strided_later, Hv. Qed.

Lemma apart_rest : forall C e x i c s b,
  iterations_apart C e (For x i c s b) -> iterations_apart C e (For x (Int (eval e i + Z.pos s)) c s b).
Proof.
  intros C e x i c s b H. cbn [iterations_apart eval]. intros v w Hv Hcv Hw.
  apply H; [apply strided_later, Hv | exact Hcv | apply strided_later, Hw].
Qed.

Lemma in_trace_reached : forall e n t ev, regular e n -> runs e n t -> In ev t -> reached e n ev.
Proof.
  intros e n t ev Hreg Hrun Hin. destruct (run_lists_executed _ _ _ Hrun) as (l & -> & _ & Hl).
  apply in_map_iff in Hin as ([p ev'] & <- & Hin). apply reached_executes; [exact Hreg|].
  exists p. apply Hl, Hin.
Qed.

(** ** The theorem *)

Section AnyOrder.
  Variable A : accesses.
  Variable value : Type.
  Variable combine : string -> value -> value -> value.
  Variable effect : event -> memory value -> memory value.
  Hypothesis effect_obeys : obeys A combine effect.

  (** Steps that do not conflict may as well run one list after the other. *)
  Lemma interleaved_same : forall l r t, interleaved l r t ->
    (forall a b, In a l -> In b r -> ~ conflicting A a b) ->
    forall m, same (run effect (l ++ r) m) (run effect t m).
  Proof.
    induction 1 as [|a l r t _ IH|a l r t _ IH]; intros H m.
    - intros c. reflexivity.
    - cbn. apply IH. intros b c Hb Hc. apply H; [right; exact Hb | exact Hc].
    - eapply same_trans.
      + apply (move_to_front _ _ _ _ _ _ _ effect_obeys). intros b Hb Hc.
        apply (H b a Hb); [left; reflexivity | apply conflict_sym, Hc].
      + cbn. apply IH. intros b c Hb Hc. apply H; [exact Hb | right; exact Hc].
  Qed.

  Lemma interleaved_in : forall (l r t : trace) ev, interleaved l r t -> In ev t <-> In ev (l ++ r).
  Proof.
    intros l r t ev H. induction H as [|a l r t _ IH|a l r t _ IH]; [tauto | cbn; tauto|].
    rewrite in_app_iff in *. cbn. tauto.
  Qed.

  (** Two traces with the same events that lead to the same memory. *)
  Definition alike (t t' : trace) : Prop :=
    (forall ev, In ev t <-> In ev t') /\ forall m, same (run effect t m) (run effect t' m).

  Lemma alike_refl : forall t, alike t t.
  Proof. intros t. split; [reflexivity | intros m c; reflexivity]. Qed.

  Lemma alike_app : forall t1 t2 u1 u2, alike t1 u1 -> alike t2 u2 -> alike (t1 ++ t2) (u1 ++ u2).
  Proof.
    intros t1 t2 u1 u2 [Hin1 Hs1] [Hin2 Hs2]. split.
    - intros ev. rewrite !in_app_iff, Hin1, Hin2. reflexivity.
    - intros m. unfold run in *. rewrite !fold_left_app. eapply same_trans; [apply Hs2|].
      apply (run_same _ _ _ _ _ _ effect effect_obeys), Hs1.
  Qed.

  (** Whatever a program with independent parallel loops may do, it leaves what
      it leaves when it takes its iterations one after the other. *)
  Theorem any_order_alike : forall e n t, may_run e n t ->
    regular e n -> independent (conflicting A) e n -> exists t0, runs e n t0 /\ alike t0 t.
  Proof.
    induction 1 as [e f args hint|e|e c cs t1 t2 _ IH1 _ IH2|e c a b t Hc _ IH|e c a b t Hc _ IH
                   |e x a c s b Hc|e x a c s b t1 t2 Hc _ IH1 _ IH2|e x a b t _ IH|e text b t _ IH
                   |e x a c s b Hc|e x a c s b t1 t2 t Hc _ IH1 _ IH2 Hmix]; intros Hreg Hind.
    - eexists. split; [constructor | apply alike_refl].
    - eexists. split; [constructor | apply alike_refl].
    - cbn [regular independent map] in Hreg, Hind.
      apply all_cons in Hreg as [Hr1 Hr2]. apply all_cons in Hind as [Hi1 Hi2].
      destruct (IH1 Hr1 Hi1) as (u1 & Hu1 & H1). destruct (IH2 Hr2 Hi2) as (u2 & Hu2 & H2).
      exists (u1 ++ u2). split; [constructor; assumption | apply alike_app; assumption].
    - apply decide_holds in Hc as Hh. destruct Hreg as [Hr _]. destruct Hind as [Hi _].
      destruct (IH (Hr Hh) (Hi Hh)) as (u & Hu & H). exists u. split; [apply run_then; assumption | exact H].
    - apply decide_fails in Hc as Hh. destruct Hreg as [_ Hr]. destruct Hind as [_ Hi].
      destruct (IH (Hr Hh) (Hi Hh)) as (u & Hu & H). exists u. split; [apply run_else; assumption | exact H].
    - exists []. split; [apply run_for_end, Hc | apply alike_refl].
    - apply decide_holds in Hc as Hh.
      destruct IH1 as (u1 & Hu1 & H1); [apply Hreg, Hh; apply strided_refl | apply Hind, Hh; apply strided_refl|].
      destruct (IH2 (regular_rest _ _ _ _ _ _ Hreg) (independent_rest _ _ _ _ _ _ _ Hind)) as (u2 & Hu2 & H2).
      exists (u1 ++ u2). split; [apply run_for_step; assumption | apply alike_app; assumption].
    - destruct (IH Hreg Hind) as (u & Hu & H). exists u. split; [constructor; exact Hu | exact H].
    - destruct (IH Hreg (proj2 Hind)) as (u & Hu & H). exists u. split; [constructor; exact Hu | exact H].
    - exists []. split; [apply run_mark, run_for_end, Hc | apply alike_refl].
    - apply decide_holds in Hc as Hh. destruct Hind as [Hapart Hind]. cbn [String.eqb parallel] in Hapart.
      destruct IH1 as (u1 & Hu1 & H1); [apply Hreg, Hh; apply strided_refl | apply Hind, Hh; apply strided_refl|].
      destruct IH2 as (u2 & Hu2 & H2).
      { exact (regular_rest _ _ _ _ _ _ Hreg). }
      { split; [exact (apart_rest _ _ _ _ _ _ _ Hapart) | exact (independent_rest _ _ _ _ _ _ _ Hind)]. }
      inversion Hu2 as [| | | | | | | |? ? ? ? Hrest]; subst.
      exists (u1 ++ u2). split; [apply run_mark, run_for_step; assumption|].
      assert (Hfree : forall a' b', In a' t1 -> In b' t2 -> ~ conflicting A a' b').
      { intros a' b' Ha Hb. apply H1 in Ha. apply H2 in Hb.
        apply (in_trace_reached _ _ _ _ (regular_rest _ _ _ _ _ _ Hreg) Hrest) in Hb.
        cbn [reached eval] in Hb. destruct Hb as (w & Hw & Hcw & Hb). apply strided_later in Hw as [Hw Hlt].
        apply (Hapart (eval e a) w (strided_refl _ _) Hh Hw Hcw Hlt); [|exact Hb].
        eapply in_trace_reached; [|exact Hu1 | exact Ha]. apply Hreg, Hh. apply strided_refl. }
      destruct (alike_app _ _ _ _ H1 H2) as [Hin Hsame]. split.
      + intros ev. rewrite Hin. symmetry. apply interleaved_in, Hmix.
      + intros m. eapply same_trans; [apply Hsame | apply interleaved_same; assumption].
  Qed.
End AnyOrder.

(** [n] and [n'] compute the same in environment [e], whatever the order in
    which the parallel loops of [n'] take their iterations. *)
Definition compute_the_same_in_any_order (A : accesses) (e : env) (n n' : node) : Prop :=
  exists t, runs e n t /\ (exists t', runs e n' t') /\
  forall t', may_run e n' t' ->
  forall (value : Type) combine (effect : event -> memory value -> memory value), obeys A combine effect ->
  forall m, same (run effect t m) (run effect t' m).

(** What is proved of the sequential order holds for all. *)
Theorem same_in_any_order : forall A e n n',
  compute_the_same A e n n' -> regular e n' -> independent (conflicting A) e n' ->
  compute_the_same_in_any_order A e n n'.
Proof.
  intros A e n n' (t & t0 & Ht & Ht0 & Hsame) Hreg Hind.
  exists t. split; [exact Ht | split; [eauto|]]. intros t' Ht' value combine effect Heffect m.
  destruct (any_order_alike A value combine effect Heffect _ _ _ Ht' Hreg Hind) as (u & Hu & _ & Hlast).
  rewrite (runs_deterministic _ _ _ Hu _ Ht0) in Hlast.
  eapply same_trans; [exact (Hsame _ _ _ Heffect m) | apply Hlast].
Qed.
