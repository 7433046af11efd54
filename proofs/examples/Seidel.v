(** * Seidel's stencil, skewed and tiled by 32 in all three dimensions

    The original:
<<
    for (t = 0; t < T; t++)
      for (i = 1; i <= N - 2; i++)
        for (j = 1; j <= N - 2; j++)
          S: A[i][j] = (A[i-1][j-1] + A[i-1][j] + ... + A[i+1][j+1]) / 9;
>>
    and after [affine(S, {[t,i,j] -> [t, t+i, 2t+i+j]})] and [tile(S, 32, 32, 32)]:
<<
    for (c0 = 0; c0 <= floord(T - 1, 32); c0++)
      for (c1 = c0; c1 <= floord(T + N - 3, 32); c1++)
        for (c2 = c0 + c1; c2 <= floord(2*T + 2*N - 6, 32); c2++)
          for (c3 = 32*c0; c3 <= min(T - 1, 32*c0 + 31); c3++)
            for (c4 = max(32*c1, c3 + 1); c4 <= min(32*c1 + 31, c3 + N - 2); c4++)
              for (c5 = max(32*c2, c3 + c4 + 1); c5 <= min(32*c2 + 31, c3 + c4 + N - 2); c5++)
                S(c3, c4 - c3, c5 - c4 - c3);
>>
    Theorem [same_memory]: for all [T >= 1] and [N >= 3], both leave the same
    memory. *)

From Loopwright Require Import Tactics.

(** ** The programs *)

Definition original : node := <{
  for "t" = 0; "t" < "T"; += 1 do
    for "i" = 1; "i" <= "N" - 2; += 1 do
      for "j" = 1; "j" <= "N" - 2; += 1 do
        call "S" ("t", "i", "j")
}>.

Definition transformed : node := <{
  for "c0" = 0; "c0" <= floord("T" - 1, 32); += 1 do
    for "c1" = "c0"; "c1" <= floord("T" + "N" - 3, 32); += 1 do
      for "c2" = "c0" + "c1"; "c2" <= floord(2 * "T" + 2 * "N" - 6, 32); += 1 do
        for "c3" = 32 * "c0"; "c3" <= min("T" - 1, 32 * "c0" + 31); += 1 do
          for "c4" = max(32 * "c1", "c3" + 1); "c4" <= min(32 * "c1" + 31, "c3" + "N" - 2); += 1 do
            for "c5" = max(32 * "c2", "c3" + "c4" + 1);
                "c5" <= min(32 * "c2" + 31, "c3" + "c4" + "N" - 2); += 1 do
              call "S" ("c3", "c4" - "c3", "c5" - "c4" - "c3")
}>.

(** ** What they are to run *)

Definition known (p : list Z) : Prop :=
  match p with [T; N] => 1 <= T /\ 3 <= N | _ => False end.

Definition domain_S (T N : Z) (x : list Z) : Prop :=
  match x with
  | [t; i; j] => 0 <= t < T /\ 1 <= i <= N - 2 /\ 1 <= j <= N - 2
  | _ => False
  end.

Definition source : program :=
  Program ["T"; "N"] known (fun p =>
    match p with
    | [T; N] => [statement_at "S" (domain_S T N)
                   (fun x => match x with [t; i; j] => [t; i; j] | _ => [] end)]
    | _ => []
    end).

Definition target : program :=
  Program ["T"; "N"] known (fun p =>
    match p with
    | [T; N] => [statement_at "S" (domain_S T N)
                   (fun x => match x with
                    | [t; i; j] => [t / 32; (t + i) / 32; (2 * t + i + j) / 32;
                                    t; t + i; 2 * t + i + j]
                    | _ => []
                    end)]
    | _ => []
    end).

Definition memory_use (p : list Z) : accesses :=
  accesses_of [
    Access "S"
      (fun x => match x with
        | [t; i; j] => [
            ("A", [i - 1; j - 1]); ("A", [i - 1; j]); ("A", [i - 1; j + 1]);
            ("A", [i; j - 1]); ("A", [i; j]); ("A", [i; j + 1]);
            ("A", [i + 1; j - 1]); ("A", [i + 1; j]); ("A", [i + 1; j + 1])]
        | _ => []
        end)
      (fun x => match x with [t; i; j] => [("A", [i; j])] | _ => [] end)
  ].

(** ** The original runs its instances in the original order. *)

Theorem original_correct : implements source original.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros T N Hp t i j H. run_by [Iterate t; Iterate i; Iterate j].
  - prove_sound.
  - prove_order.
Qed.

(** ** The new loops run the same instances in the new order. *)

Theorem transformed_correct : implements target transformed.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros T N Hp t i j H.
    run_by [Iterate (t / 32); Iterate ((t + i) / 32); Iterate ((2 * t + i + j) / 32); Iterate t; Iterate (t + i); Iterate (2 * t + i + j)].
  - prove_sound.
  - prove_order.
Qed.

(** ** The new order keeps every two conflicting instances in their old order. *)

Theorem skewing_legal : forall p, known p ->
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
  - exact skewing_legal.
Qed.

Print Assumptions same_memory.
