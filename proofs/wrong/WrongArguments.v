(** The arguments of the call are exchanged. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition wrong : node :=
  For "j" (Int 0) (Compare LT (Var "j") (Var "n")) 1
    (For "i" (Var "j") (Compare LT (Var "i") (Var "n")) 1
      (Call "S" [Var "j"; Var "i"] [])).

Theorem wrong_correct : implements target wrong.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i j Hij. run_by [Iterate j; Iterate i]. (* refused here *)
  - prove_sound.
  - prove_order.
Qed.
