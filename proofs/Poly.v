(** * POLY programs: which instances there are, and when each is to run

    After [Courant2021, section 3].  A statement has a domain and a
    schedule; here both are predicates and functions over vectors of integers,
    so that whatever can be said in Presburger arithmetic can be said. *)

From Coq Require Import ZArith List String Sorted Permutation.
From Loopwright Require Import Loop Scope Lexicographic.
Import ListNotations.
Open Scope Z_scope.

(** [domain args hint]: the statement has this instance.
    [schedule args hint]: the time at which it is to run. *)
Record statement := Statement {
  name : string;
  domain : list Z -> list Z -> Prop;
  schedule : list Z -> list Z -> list Z
}.

(** The statements, for one value of the parameters.  Where a name is given
    twice, the first one counts. *)
Definition poly := list statement.

Fixpoint scheduled (P : poly) (ev : event) : Prop :=
  match P with
  | [] => False
  | s :: P' =>
      if String.eqb (name_of ev) (name s)
      then domain s (arguments_of ev) (hint_of ev)
      else scheduled P' ev
  end.

Fixpoint time_of (P : poly) (ev : event) : list Z :=
  match P with
  | [] => []
  | s :: P' =>
      if String.eqb (name_of ev) (name s)
      then schedule s (arguments_of ev) (hint_of ev)
      else time_of P' ev
  end.

(** [a] may run before [b]: the schedule does not want it later. *)
Definition in_time (P : poly) (a b : event) : Prop := ~ lex_lt (time_of P b) (time_of P a).

(** The trace [t] runs [P]: all its instances, nothing else, each once, in
    the order of the schedule.  Events of equal time may come in any order. *)
Record runs_schedule (P : poly) (t : trace) : Prop := {
  all_and_only : forall ev, In ev t <-> scheduled P ev;
  each_once : NoDup t;
  in_order : StronglySorted (in_time P) t
}.

(** Any duplicate-free list of the instances is a permutation of the trace. *)
Theorem trace_is_a_permutation : forall P t instances,
  runs_schedule P t -> NoDup instances -> (forall ev, In ev instances <-> scheduled P ev) ->
  Permutation t instances.
Proof.
  intros P t l [Hall Honce _] Hl Hin. apply NoDup_Permutation; auto.
  intros ev. rewrite Hall, Hin. reflexivity.
Qed.

(** ** Programs with parameters *)

(** The parameters have names, by which LOOP programs know them; the context
    says which values they may have.  A [context] must refuse vectors of the
    wrong length. *)
Record program := Program {
  parameters : list string;
  context : list Z -> Prop;
  statements : list Z -> poly
}.

Definition environment (G : program) (p : list Z) : env := combine (parameters G) p.

(** The LOOP program [n] implements [G]: it uses no names but its own and the
    parameters; and whatever the parameters, it ends, and its trace runs the
    schedule. *)
Record implements (G : program) (n : node) : Prop := {
  closed_program : closed (parameters G) n = true;
  runs_its_schedule : forall p, context G p ->
    exists t, runs (environment G p) n t /\ runs_schedule (statements G p) t
}.
