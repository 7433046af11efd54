(** * Every construct of LOOP, once

    Small programs that show how the less common constructs are written and
    how their obligations are closed. *)

From Loopwright Require Import Tactics Evaluator.

Definition any_size (p : list Z) : Prop := match p with [n] => 0 <= n | _ => False end.

(** ** A stride with an offset, a remark, a value bound by a let
<<
    for (c0 = 1; c0 <= n; c0 += 3) {
      // mark: every third
      int h = c0 / 3;
      S(h, c0);
    }
>> *)
Definition strided_loop : node := <{
  for "c0" = 1; "c0" <= "n"; += 3 do
    mark "every third" on
      let "h" = "c0" / 3 in
        call "S" ("h", "c0")
}>.

Definition every_third : program :=
  Program ["n"] any_size (fun p =>
    match p with
    | [n] => [statement_at "S"
        (fun x => match x with [h; i] => 1 <= i <= n /\ i mod 3 = 1 /\ i = 3 * h + 1 | _ => False end)
        (fun x => match x with [h; i] => [i] | _ => [] end)]
    | _ => []
    end).

Theorem strided_loop_correct : implements every_third strided_loop.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn h i H. run_by [Iterate i; Enter; Enter].
  - prove_sound.
  - prove_order.
Qed.

(** ** Conditionals: a guard with else, a disjunction, a conditional bound
<<
    for (c0 = 0; c0 <= (n >= 10 ? 2 * n : n); c0++)
      if (c0 % 2 == 0 && !(c0 == 4))
        S0(c0);
      else if (c0 < 3 || c0 > 7)
        S1(c0);
>> *)
Definition guarded : node := <{
  for "c0" = 0; "c0" <= ("n" >= 10 ? 2 * "n" : "n"); += 1 do
    if "c0" % 2 == 0 && ! ("c0" == 4) then
      (call "S0" ("c0"))
    else
      if "c0" < 3 || "c0" > 7 then
        call "S1" ("c0")
}>.

Definition last_value (n : Z) : Z := if 10 <=? n then 2 * n else n.

Definition guarded_statements : program :=
  Program ["n"] any_size (fun p =>
    match p with
    | [n] => [
        statement_at "S0"
          (fun x => match x with
            | [i] => 0 <= i <= last_value n /\ i mod 2 = 0 /\ i <> 4
            | _ => False
            end)
          (fun x => match x with [i] => [i] | _ => [] end);
        statement_at "S1"
          (fun x => match x with
            | [i] => 0 <= i <= last_value n /\ (i mod 2 = 1 \/ i = 4) /\ ~ 3 <= i <= 7
            | _ => False
            end)
          (fun x => match x with [i] => [i] | _ => [] end)]
    | _ => []
    end).

Theorem guarded_correct : implements guarded_statements guarded.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers.
    + intros n Hn i H. run_by [Iterate i; Yes].
    + intros n Hn i H. run_by [Iterate i; No; Yes].
  - prove_sound.
  - prove_order.
Qed.

(** ** A schedule that leaves the order of some instances open
    All [S(i, j)] of one [i] have the same time; the program runs them in some
    order, here by increasing [j].
<<
    for (c0 = 0; c0 <= n; c0++)
      for (c1 = 0; c1 <= c0; c1++)
        S(c0, c1);
>> *)
Definition open_order : node := <{
  for "c0" = 0; "c0" <= "n"; += 1 do
    for "c1" = 0; "c1" <= "c0"; += 1 do
      call "S" ("c0", "c1")
}>.

Definition by_row : program :=
  Program ["n"] any_size (fun p =>
    match p with
    | [n] => [statement_at "S"
        (fun x => match x with [i; j] => 0 <= j <= i /\ i <= n | _ => False end)
        (fun x => match x with [i; j] => [i] | _ => [] end)]
    | _ => []
    end).

Theorem open_order_correct : implements by_row open_order.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i j H. run_by [Iterate i; Iterate j].
  - prove_sound.
  - prove_order_weak.
Qed.

(** ** A schedule that gives an instance several times

    [S(i)] is to run at times [2 i] and [2 i + 1]; each call says for which
    time it stands.
<<
    for (c0 = 0; c0 <= 2 * n + 1; c0++)
      S(floord(c0, 2));      // time c0
>> *)
Definition twice : node := <{
  for "c0" = 0; "c0" <= 2 * "n" + 1; += 1 do
    call "S" (floord("c0", 2)) at ("c0")
}>.

Definition two_times : program :=
  Program ["n"] any_size (fun p =>
    match p with
    | [n] => [statement_at_all "S"
        (fun x => match x with [i] => 0 <= i <= n | _ => False end)
        (fun x t => match x, t with [i], [c] => c = 2 * i \/ c = 2 * i + 1 | _, _ => False end)]
    | _ => []
    end).

Theorem twice_correct : implements two_times twice.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i c H. run_by [Iterate c].
  - prove_sound.
  - prove_order.
Qed.

(** ** A schedule in pieces

    The second half runs first.
<<
    for (c0 = floord(n, 2) + 1; c0 <= n; c0++) S(c0);
    for (c0 = 0; c0 <= floord(n, 2); c0++) S(c0);
>> *)
Definition halves : node := <{
  {
    for "c0" = floord("n", 2) + 1; "c0" <= "n"; += 1 do
      call "S" ("c0");
    for "c0" = 0; "c0" <= floord("n", 2); += 1 do
      call "S" ("c0")
  }
}>.

Definition second_half_first : program :=
  Program ["n"] any_size (fun p =>
    match p with
    | [n] => [statement_at "S"
        (fun x => match x with [i] => 0 <= i <= n | _ => False end)
        (fun x => match x with [i] => if i <=? n / 2 then [1; i] else [0; i] | _ => [] end)]
    | _ => []
    end).

Theorem halves_correct : implements second_half_first halves.
Proof.
  prove_implements.
  - prove_regular.
  - prove_covers. intros n Hn i H. cases (i <= n / 2).
    + run_by [Child 1; Iterate i].
    + run_by [Child 0; Iterate i].
  - prove_sound.
  - order_siblings.
    + order_loop [0] as c0. order_call.
    + order_iterations as c0. order_call.
Qed.

(** ** The evaluator shows what a program does. *)
Example halves_of_3 :
  evaluate 100 [("n", 3)] halves =
  Some [Event "S" [2] []; Event "S" [3] []; Event "S" [0] []; Event "S" [1] []].
Proof. reflexivity. Qed.

Print Assumptions strided_loop_correct.
Print Assumptions guarded_correct.
Print Assumptions open_order_correct.
Print Assumptions twice_correct.
Print Assumptions halves_correct.
