(** The inner loop starts one too late: [S(i, i)] is never run. *)
From Loopwright Require Import Tactics.
From Loopwright.examples Require Import Interchange.

Definition wrong : node :=
  For "j" (Int 0) (Compare LT (Var "j") (Var "n")) 1
    (For "i" (Sum [Var "j"; Int 1]) (Compare LT (Var "i") (Var "n")) 1
      (Call "S" [Var "i"; Var "j"] [])).

Theorem wrong_correct : implements target wrong.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i j Hij. run_by [Iterate j; Iterate i]. (* refused here *)
  - prove_sound.
  - prove_order.
Qed.
