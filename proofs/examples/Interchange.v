(** * Interchange of a triangular loop

    The original:
<<
    for (i = 0; i < n; i++)
      for (j = 0; j <= i; j++)
        S: x[i] = x[i] + a[i][j] * y[j];
>>
    and after [interchange(S)]:
<<
    for (j = 0; j < n; j++)
      for (i = j; i < n; i++)
        S
>>
    Theorem [same_memory]: for every [n >= 1], both leave the same memory. *)

From Loopwright Require Import Tactics.

(** ** The programs *)

Definition original : node := <{
  for "i" = 0; "i" < "n"; += 1 do
    for "j" = 0; "j" <= "i"; += 1 do
      call "S" ("i", "j")
}>.

Definition transformed : node := <{
  for "j" = 0; "j" < "n"; += 1 do
    for "i" = "j"; "i" < "n"; += 1 do
      call "S" ("i", "j")
}>.

(** ** What they are to run *)

Definition known (p : list Z) : Prop :=
  match p with [n] => 1 <= n | _ => False end.

Definition domain_S (n : Z) (x : list Z) : Prop :=
  match x with [i; j] => 0 <= i < n /\ 0 <= j <= i | _ => False end.

Definition before_S (x : list Z) : list Z :=
  match x with [i; j] => [i; j] | _ => [] end.

Definition after_S (x : list Z) : list Z :=
  match x with [i; j] => [j; i] | _ => [] end.

Definition source : program :=
  Program ["n"] known (fun p =>
    match p with
    | [n] => [statement_at "S" (domain_S n) before_S]
    | _ => []
    end).

Definition target : program :=
  Program ["n"] known (fun p =>
    match p with
    | [n] => [statement_at "S" (domain_S n) after_S]
    | _ => []
    end).

Definition memory_use (p : list Z) : accesses :=
  accesses_of [
    Access "S"
      (fun x => match x with
                | [i; j] => [("x", [i]); ("a", [i; j]); ("y", [j])]
                | _ => []
                end)
      (fun x => match x with [i; j] => [("x", [i])] | _ => [] end)
  ].

(** ** The original runs its instances in the original order. *)

Theorem original_correct : implements source original.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i j Hij. run_by [Iterate i; Iterate j].
  - prove_sound.
  - prove_order.
Qed.

(** ** The new loops run the same instances in the new order. *)

Theorem transformed_correct : implements target transformed.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i j Hij. run_by [Iterate j; Iterate i].
  - prove_sound.
  - prove_order.
Qed.

(** ** The new order keeps every two conflicting instances in their old order. *)

Theorem interchange_legal : forall p, known p ->
  legal (memory_use p) (statements source p) (statements target p).
Proof. prove_legal. Qed.

(** ** Both programs leave the same memory, for every size and every input. *)

Theorem same_memory : forall p, known p ->
  compute_the_same (memory_use p) (environment source p) original transformed.
Proof.
  apply (transformation_correct memory_use source target).
  - reflexivity.
  - auto.
  - exact original_correct.
  - exact transformed_correct.
  - exact interchange_legal.
Qed.

Print Assumptions same_memory.
