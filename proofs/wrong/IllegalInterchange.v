(** Interchange where the statement is [a[i][j] = a[i-1][j+1]]: an instance
    reads what another has written, which comes later in the new order. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition other_use (p : list Z) : accesses :=
  accesses_of [
    Access "S"
      (fun x => match x with [i; j] => [("a", [i - 1; j + 1])] | _ => [] end)
      (fun x => match x with [i; j] => [("a", [i; j])] | _ => [] end)
  ].

Theorem wrong_legal : forall p, known p ->
  legal (other_use p) (statements source p) (statements target p).
Proof.
  prove_legal. (* refused here *)
Qed.
