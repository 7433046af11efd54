(** * What a program is to run, as data

    [Poly.v] has domains and schedules as predicates and functions; a checker
    needs them as terms.  A shape is a statement with a number of arguments: a
    test says which vectors are instances, expressions say when they run.
    [meant] gives such a specification its meaning in terms of [Poly.v]. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

Record shape := Shape {
  shape_name : string;
  shape_arguments : list string;
  shape_hints : list string;    (* where an instance has several times: their places *)
  shape_domain : test;
  shape_time : list expr
}.

(** The names of the parameters, what is known of them, and the statements. *)
Record specification := Specification {
  sizes : list string;
  assumption : test;
  shapes : list shape
}.

(** ** Its meaning *)

Definition instance (e : env) (h : shape) (x y : list Z) : env :=
  combine (shape_arguments h) x ++ combine (shape_hints h) y ++ e.

Fixpoint find_shape (l : list shape) (f : string) (n m : nat) : option shape :=
  match l with
  | [] => None
  | h :: l' =>
      if String.eqb f (shape_name h) && Nat.eqb n (List.length (shape_arguments h)) &&
         Nat.eqb m (List.length (shape_hints h))
      then Some h else find_shape l' f n m
  end.

Definition has_instance (l : list shape) (e : env) (f : string) (x y : list Z) : Prop :=
  match find_shape l f (List.length x) (List.length y) with
  | Some h => decide (instance e h x y) (shape_domain h) = true
  | None => False
  end.

Definition at_time (l : list shape) (e : env) (f : string) (x y : list Z) : list Z :=
  match find_shape l f (List.length x) (List.length y) with
  | Some h => map (eval (instance e h x y)) (shape_time h)
  | None => []
  end.

Definition poly_of (l : list shape) (e : env) : poly :=
  map (fun h => Statement (shape_name h) (has_instance l e (shape_name h)) (at_time l e (shape_name h))) l.

Definition meant (G : specification) : program :=
  Program (sizes G)
    (fun p => List.length p = List.length (sizes G) /\ decide (combine (sizes G) p) (assumption G) = true)
    (fun p => poly_of (shapes G) (combine (sizes G) p)).

Lemma find_shape_known : forall l f n m h, find_shape l f n m = Some h ->
  In h l /\ shape_name h = f /\ List.length (shape_arguments h) = n /\ List.length (shape_hints h) = m.
Proof.
  induction l as [|g l IH]; intros f n m h H; cbn [find_shape] in H; [discriminate|].
  destruct (String.eqb f (shape_name g) && Nat.eqb n (List.length (shape_arguments g)) &&
            Nat.eqb m (List.length (shape_hints g))) eqn:Hg.
  - injection H as <-. apply andb_prop in Hg as [Hg Hm]. apply andb_prop in Hg as [Hf Hn].
    apply String.eqb_eq in Hf. apply Nat.eqb_eq in Hn. apply Nat.eqb_eq in Hm. cbn. auto.
  - destruct (IH f n m h H) as (H1 & H2). cbn. auto.
Qed.

Lemma scheduled_instance : forall l e ev,
  scheduled (poly_of l e) ev <-> has_instance l e (name_of ev) (arguments_of ev) (hint_of ev).
Proof.
  intros l e [f x y]. unfold poly_of. cbn [name_of arguments_of hint_of].
  assert (H : forall k, (forall n m h, find_shape l f n m = Some h -> In h k) ->
            scheduled (map (fun h => Statement (shape_name h) (has_instance l e (shape_name h))
              (at_time l e (shape_name h))) k) (Event f x y) <-> has_instance l e f x y).
  { induction k as [|h k IH]; intros Hin; cbn [map scheduled name_of name domain arguments_of hint_of].
    - split; [contradiction|]. unfold has_instance.
      destruct (find_shape l f (List.length x) (List.length y)) as [h|] eqn:Hf; [destruct (Hin _ _ _ Hf) | auto].
    - destruct (String.eqb_spec f (shape_name h)) as [<- | Hne]; [reflexivity|]. apply IH.
      intros n m g Hg. destruct (Hin n m g Hg) as [-> | Hk]; [|exact Hk].
      apply find_shape_known in Hg. destruct Hg as (_ & Hname & _). congruence. }
  apply H. intros n m h Hh. apply find_shape_known in Hh. apply Hh.
Qed.

Lemma time_instance : forall l e ev,
  time_of (poly_of l e) ev = at_time l e (name_of ev) (arguments_of ev) (hint_of ev).
Proof.
  intros l e [f x y]. unfold poly_of. cbn [name_of arguments_of hint_of].
  assert (H : forall k, (forall n m h, find_shape l f n m = Some h -> In h k) ->
            time_of (map (fun h => Statement (shape_name h) (has_instance l e (shape_name h))
              (at_time l e (shape_name h))) k) (Event f x y) = at_time l e f x y).
  { induction k as [|h k IH]; intros Hin; cbn [map time_of name_of name arguments_of hint_of schedule].
    - unfold at_time.
      destruct (find_shape l f (List.length x) (List.length y)) as [h|] eqn:Hf; [destruct (Hin _ _ _ Hf) | reflexivity].
    - destruct (String.eqb_spec f (shape_name h)) as [<- | Hne]; [reflexivity|]. apply IH.
      intros n m g Hg. destruct (Hin n m g Hg) as [-> | Hk]; [|exact Hk].
      apply find_shape_known in Hg. destruct Hg as (_ & Hname & _). congruence. }
  apply H. intros n m h Hh. apply find_shape_known in Hh. apply Hh.
Qed.
