(** A statement whose accesses are not given counts as touching everything. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Theorem wrong_legal : forall p, known p ->
  legal (accesses_of []) (statements source p) (statements target p).
Proof.
  prove_legal. (* refused here *)
Qed.
