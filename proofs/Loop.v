(** * LOOP: the language of generated programs, and what running one means

    The syntax is, constructor for constructor, that of the Python package
    [loopwright.loops] (modules [expressions] and [nodes]), after
    [Courant2021, figure 9].  Integers are unbounded.  Divisors and steps have type
    [positive], so that a division by zero or a loop that goes backwards
    cannot be written down.

    Two things of the Python tree are not here: an [If] without an else part
    has [Block []] as its else part, and the [parallel] remark on a loop is
    dropped, a loop means its sequential order. *)

From Coq Require Import ZArith List String Bool Lia.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope Z_scope.

(** ** Syntax *)

Inductive relation := EQ | NE | LE | LT | GE | GT.

Inductive expr :=
| Int (value : Z)
| Var (name : string)                            (* an iterator or a parameter *)
| Sum (terms : list expr)
| Scaled (factor : Z) (argument : expr)
| FloorDiv (argument : expr) (divisor : positive)  (* rounds down *)
| TruncDiv (argument : expr) (divisor : positive)  (* C's [/]: rounds to zero *)
| Rem (argument : expr) (divisor : positive)       (* C's [%]: sign of the argument *)
| Min (arguments : list expr)
| Max (arguments : list expr)
| Select (condition : test) (yes no : expr)
with test :=
| Compare (r : relation) (left right : expr)
| And (arguments : list test)
| Or (arguments : list test)
| Not (argument : test).

Inductive node :=
| Call (name : string) (arguments : list expr) (hint : list expr)
    (* [hint] is the schedule point this call stands for, where an instance
       has several; it is empty otherwise and has no effect on the run. *)
| Block (children : list node)
| If (condition : test) (yes no : node)
| For (iterator : string) (start : expr) (continue : test) (step : positive) (body : node)
    (* ends at the first value for which [continue] fails, as in C *)
| Let (name : string) (value : expr) (body : node)
| Mark (text : string) (body : node).            (* a remark; means nothing *)

(** ** Values of expressions and tests *)

(** An environment binds names to integers; the innermost binding is first. *)
Definition env := list (string * Z).

(** An unbound name counts as 0; [Scope.v] checks that there is none. *)
Fixpoint lookup (x : string) (e : env) : Z :=
  match e with
  | [] => 0
  | (y, v) :: e' => if String.eqb x y then v else lookup x e'
  end.

Definition sum (l : list Z) : Z :=
  match l with
  | [] => 0
  | a :: l' => fold_left Z.add l' a
  end.

Definition minimum (l : list Z) : Z :=
  match l with
  | [] => 0
  | a :: l' => fold_left Z.min l' a
  end.

Definition maximum (l : list Z) : Z :=
  match l with
  | [] => 0
  | a :: l' => fold_left Z.max l' a
  end.

Definition compare (r : relation) (a b : Z) : bool :=
  match r with
  | EQ => a =? b
  | NE => negb (a =? b)
  | LE => a <=? b
  | LT => a <? b
  | GE => b <=? a
  | GT => b <? a
  end.

Fixpoint eval (e : env) (a : expr) : Z :=
  match a with
  | Int v => v
  | Var x => lookup x e
  | Sum l => sum (map (eval e) l)
  | Scaled k b => k * eval e b
  | FloorDiv b d => eval e b / Z.pos d
  | TruncDiv b d => Z.quot (eval e b) (Z.pos d)
  | Rem b d => Z.rem (eval e b) (Z.pos d)
  | Min l => minimum (map (eval e) l)
  | Max l => maximum (map (eval e) l)
  | Select t b c => if decide e t then eval e b else eval e c
  end
with decide (e : env) (t : test) : bool :=
  match t with
  | Compare r a b => compare r (eval e a) (eval e b)
  | And l => forallb (decide e) l
  | Or l => existsb (decide e) l
  | Not u => negb (decide e u)
  end.

(** ** Traces *)

(** One execution of a statement: its name, the values of its arguments, and
    the value of the hint (empty for nearly all statements). *)
Record event := Event { name_of : string; arguments_of : list Z; hint_of : list Z }.

Definition trace := list event.

(** ** The run of a program

    [runs e n t]: in environment [e], node [n] ends, having executed the
    events of [t] in that order.  Big-step, as in [Courant2021, figure 10].
    The two rules of [For] say what C says: look at the test; if it holds do
    the body and go on from the next value.  A loop that does not end has no
    trace. *)
Inductive runs : env -> node -> trace -> Prop :=
| run_call e f args hint :
    runs e (Call f args hint) [Event f (map (eval e) args) (map (eval e) hint)]
| run_block_nil e :
    runs e (Block []) []
| run_block_cons e c cs t1 t2 :
    runs e c t1 -> runs e (Block cs) t2 -> runs e (Block (c :: cs)) (t1 ++ t2)
| run_then e c a b t :
    decide e c = true -> runs e a t -> runs e (If c a b) t
| run_else e c a b t :
    decide e c = false -> runs e b t -> runs e (If c a b) t
| run_for_end e x a c s b :
    decide ((x, eval e a) :: e) c = false -> runs e (For x a c s b) []
| run_for_step e x a c s b t1 t2 :
    decide ((x, eval e a) :: e) c = true ->
    runs ((x, eval e a) :: e) b t1 ->
    runs e (For x (Int (eval e a + Z.pos s)) c s b) t2 ->
    runs e (For x a c s b) (t1 ++ t2)
| run_let e x a b t :
    runs ((x, eval e a) :: e) b t -> runs e (Let x a b) t
| run_mark e text b t :
    runs e b t -> runs e (Mark text b) t.

(** A program has at most one trace. *)
Theorem runs_deterministic : forall e n t1,
  runs e n t1 -> forall t2, runs e n t2 -> t1 = t2.
Proof.
  induction 1; intros u Hu; inversion Hu; subst; try congruence; eauto;
    f_equal; eauto.
Qed.

(** ** Induction over nodes, through the children of blocks *)

Section NodeInduction.
  Variable P : node -> Prop.
  Hypothesis case_call : forall f args hint, P (Call f args hint).
  Hypothesis case_block : forall cs, Forall P cs -> P (Block cs).
  Hypothesis case_if : forall c a b, P a -> P b -> P (If c a b).
  Hypothesis case_for : forall x a c s b, P b -> P (For x a c s b).
  Hypothesis case_let : forall x a b, P b -> P (Let x a b).
  Hypothesis case_mark : forall text b, P b -> P (Mark text b).

  Fixpoint node_induction (n : node) : P n :=
    match n with
    | Call f args hint => case_call f args hint
    | Block cs => case_block cs
        ((fix all cs : Forall P cs :=
            match cs with
            | [] => Forall_nil P
            | c :: cs' => Forall_cons c (node_induction c) (all cs')
            end) cs)
    | If c a b => case_if c a b (node_induction a) (node_induction b)
    | For x a c s b => case_for x a c s b (node_induction b)
    | Let x a b => case_let x a b (node_induction b)
    | Mark text b => case_mark text b (node_induction b)
    end.
End NodeInduction.
