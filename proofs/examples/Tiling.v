(** * Tiling by 32 of a triangular pair of loops

    The original:
<<
    for (i = 0; i < n; i++) {
      S0: x[i] = 0;
      for (j = 0; j <= i; j++)
        S1: x[i] = x[i] + a[i][j] * y[j];
    }
>>
    and after tiling [S1] by 32 and running [S0] first:
<<
    for (c0 = 0; c0 < n; c0++)
      S0(c0);
    for (c0 = 0; c0 <= floord(n - 1, 32); c0++)
      for (c1 = 0; c1 <= c0; c1++)
        for (c2 = 32*c0; c2 <= min(n - 1, 32*c0 + 31); c2++)
          for (c3 = 32*c1; c3 <= min(c2, 32*c1 + 31); c3++)
            S1(c2, c3);
>>
    Theorem [same_memory]: for every [n >= 1], both leave the same memory. *)

From Loopwright Require Import Tactics.

(** ** The programs *)

Definition original : node := <{
  for "i" = 0; "i" < "n"; += 1 do {
    call "S0" ("i");
    for "j" = 0; "j" <= "i"; += 1 do
      call "S1" ("i", "j")
  }
}>.

Definition transformed : node := <{
  {
    for "c0" = 0; "c0" < "n"; += 1 do
      call "S0" ("c0");
    for "c0" = 0; "c0" <= floord("n" - 1, 32); += 1 do
      for "c1" = 0; "c1" <= "c0"; += 1 do
        for "c2" = 32 * "c0"; "c2" <= min("n" - 1, 32 * "c0" + 31); += 1 do
          for "c3" = 32 * "c1"; "c3" <= min("c2", 32 * "c1" + 31); += 1 do
            call "S1" ("c2", "c3")
  }
}>.

(** ** What they are to run *)

Definition known (p : list Z) : Prop :=
  match p with [n] => 1 <= n | _ => False end.

Definition domain_S0 (n : Z) (x : list Z) : Prop :=
  match x with [i] => 0 <= i < n | _ => False end.

Definition domain_S1 (n : Z) (x : list Z) : Prop :=
  match x with [i; j] => 0 <= i < n /\ 0 <= j <= i | _ => False end.

Definition source : program :=
  Program ["n"] known (fun p =>
    match p with
    | [n] => [
        statement_at "S0" (domain_S0 n) (fun x => match x with [i] => [i; 0; 0] | _ => [] end);
        statement_at "S1" (domain_S1 n) (fun x => match x with [i; j] => [i; 1; j] | _ => [] end)]
    | _ => []
    end).

Definition target : program :=
  Program ["n"] known (fun p =>
    match p with
    | [n] => [
        statement_at "S0" (domain_S0 n)
          (fun x => match x with [i] => [0; i; 0; 0; 0] | _ => [] end);
        statement_at "S1" (domain_S1 n)
          (fun x => match x with [i; j] => [1; i / 32; j / 32; i; j] | _ => [] end)]
    | _ => []
    end).

Definition memory_use (p : list Z) : accesses :=
  accesses_of [
    Access "S0"
      (fun _ => [])
      (fun x => match x with [i] => [("x", [i])] | _ => [] end);
    Access "S1"
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
  - prove_covers.
    + intros n Hn i Hi. run_by [Iterate i; Child 0].
    + intros n Hn i j Hij. run_by [Iterate i; Child 1; Iterate j].
  - prove_sound.
  - prove_order.
Qed.

(** ** The new loops run the same instances in the new order.

    The order is shown going down the tree: the times of the two children of
    the block are before and after [[1]], and every iterator is the next place
    of the time of all that runs in its loop. *)

Theorem transformed_correct : implements target transformed.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers.
    + intros n Hn i Hi. run_by [Child 0; Iterate i].
    + intros n Hn i j Hij. run_by [Child 1; Iterate (i / 32); Iterate (j / 32); Iterate i; Iterate j].
  - prove_sound.
  - order_block [[1]].
    + order_loop [0] as c0. order_call.
    + order_loop [1] as c0. order_loop [1; c0] as c1.
      order_loop [1; c0; c1] as c2. order_loop [1; c0; c1; c2] as c3. order_call.
Qed.

(** ** The new order keeps every two conflicting instances in their old order. *)

Theorem tiling_legal : forall p, known p ->
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
  - exact tiling_legal.
Qed.

Print Assumptions same_memory.
