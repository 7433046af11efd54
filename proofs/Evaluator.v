(** * An evaluator for LOOP

    A function that computes traces, for looking at programs with [Compute]
    and for comparing this semantics with other interpreters.  [fuel] bounds
    the depth of the computation, since a loop of LOOP need not end. *)

From Coq Require Import ZArith List Lia.
From Loopwright Require Import Loop.
Import ListNotations.
Open Scope Z_scope.

Definition append (a b : option trace) : option trace :=
  match a, b with
  | Some t, Some u => Some (t ++ u)
  | _, _ => None
  end.

Fixpoint evaluate (fuel : nat) (e : env) (n : node) : option trace :=
  match fuel with
  | O => None
  | S fuel =>
    match n with
    | Call f args hint => Some [Event f (map (eval e) args) (map (eval e) hint)]
    | Block [] => Some []
    | Block (c :: cs) => append (evaluate fuel e c) (evaluate fuel e (Block cs))
    | If c a b => if decide e c then evaluate fuel e a else evaluate fuel e b
    | For x a c s b =>
        if decide ((x, eval e a) :: e) c
        then append (evaluate fuel ((x, eval e a) :: e) b)
                    (evaluate fuel e (For x (Int (eval e a + Z.pos s)) c s b))
        else Some []
    | Let x a b => evaluate fuel ((x, eval e a) :: e) b
    | Mark _ b => evaluate fuel e b
    end
  end.

(** What the evaluator answers is the trace. *)
Theorem evaluate_sound : forall fuel e n t,
  evaluate fuel e n = Some t -> runs e n t.
Proof.
  induction fuel as [|fuel IH]; intros e n t H; [discriminate|].
  destruct n as [f args hint|[|c cs]|c a b|x a c s b|x a b|text b]; simpl in H.
  - injection H as <-. constructor.
  - injection H as <-. constructor.
  - destruct (evaluate fuel e c) as [t1|] eqn:H1; [|discriminate].
    destruct (evaluate fuel e (Block cs)) as [t2|] eqn:H2; [|discriminate].
    injection H as <-. constructor; auto.
  - destruct (decide e c) eqn:Hc; [apply run_then | apply run_else]; auto.
  - destruct (decide ((x, eval e a) :: e) c) eqn:Hc.
    + destruct (evaluate fuel ((x, eval e a) :: e) b) as [t1|] eqn:H1; [|discriminate].
      destruct (evaluate fuel e (For x _ c s b)) as [t2|] eqn:H2; [|discriminate].
      injection H as <-. apply run_for_step; auto.
    + injection H as <-. apply run_for_end; auto.
  - constructor; auto.
  - constructor; auto.
Qed.

(** More fuel never changes an answer. *)
Lemma evaluate_more_fuel : forall fuel more e n t,
  (fuel <= more)%nat -> evaluate fuel e n = Some t -> evaluate more e n = Some t.
Proof.
  induction fuel as [|fuel IH]; intros more e n t Hle H; [discriminate|].
  destruct more as [|more]; [lia|].
  assert (Hle' : (fuel <= more)%nat) by lia.
  destruct n as [f args hint|[|c cs]|c a b|x a c s b|x a b|text b]; simpl in *; eauto.
  - destruct (evaluate fuel e c) as [t1|] eqn:H1; [|discriminate].
    destruct (evaluate fuel e (Block cs)) as [t2|] eqn:H2; [|discriminate].
    erewrite !IH by eauto. exact H.
  - destruct (decide e c); eauto.
  - destruct (decide ((x, eval e a) :: e) c); [|exact H].
    destruct (evaluate fuel ((x, eval e a) :: e) b) as [t1|] eqn:H1; [|discriminate].
    destruct (evaluate fuel e (For x _ c s b)) as [t2|] eqn:H2; [|discriminate].
    erewrite !IH by eauto. exact H.
Qed.

(** Every program that ends is evaluated, given enough fuel. *)
Theorem evaluate_complete : forall e n t,
  runs e n t -> exists fuel, evaluate fuel e n = Some t.
Proof.
  induction 1 as [e f args hint|e|e c cs t1 t2 _ [f1 H1] _ [f2 H2]
                 |e c a b t Hc _ [f1 H1]|e c a b t Hc _ [f1 H1]
                 |e x a c s b Hc|e x a c s b t1 t2 Hc _ [f1 H1] _ [f2 H2]
                 |e x a b t _ [f1 H1]|e text b t _ [f1 H1]].
  - exists 1%nat. reflexivity.
  - exists 1%nat. reflexivity.
  - exists (S (f1 + f2)). simpl.
    rewrite (evaluate_more_fuel f1 (f1 + f2) e c t1) by (auto; lia).
    rewrite (evaluate_more_fuel f2 (f1 + f2) e (Block cs) t2) by (auto; lia).
    reflexivity.
  - exists (S f1). simpl. rewrite Hc. exact H1.
  - exists (S f1). simpl. rewrite Hc. exact H1.
  - exists 1%nat. simpl. rewrite Hc. reflexivity.
  - exists (S (f1 + f2)). simpl. rewrite Hc.
    rewrite (evaluate_more_fuel f1 (f1 + f2) _ b t1) by (auto; lia).
    rewrite (evaluate_more_fuel f2 (f1 + f2) e _ t2) by (auto; lia).
    reflexivity.
  - exists (S f1). exact H1.
  - exists (S f1). exact H1.
Qed.
