(** * Checks of programs that are given as texts

    A program is given as a term, or as its text in C, which [Parser.v] reads.
    The checks are those of [Checker.v], [Changes.v], [Temporaries.v],
    [Reused.v] and [Stored.v]; their theorems are about the loops as they are
    written, up or down ([Counting.v]). *)

From Coq Require Import ZArith List String Bool.
From Loopwright Require Import Loop Scope Poly Formulas Memory Transformation Parallel Private Counting Parser Matching.
From Loopwright Require Import Linear Symbolic Specification Checker Changes Accounting Temporaries Reused Stored.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** How a program is given *)

(** [Printed text hints]: where instances have several times, [hints] has the
    times that the calls stand for, in the order of the text; else it is empty.
    [Region text marks calls]: a part of a program in C.  [marks] says of each
    loop whether its iterations may run in any order; [calls] which instance
    each statement is.  Both are in the order of the text. *)
Inductive source :=
| Term (n : counted)
| Printed (text : string) (hints : list (list expr))
| Region (text : string) (marks : list bool) (calls : list (string * list expr * list expr)).

(** A program with other calls, loops and remarks, which are taken from a state in the order of the text. *)
Section Replaced.
  Variable St : Type.
  Variable call : string -> list expr -> St -> option (counted * St).
  Variable loop : St -> option ((counted -> counted) * St).
  Variable remark : string -> St -> option (counted -> counted).

  Fixpoint replaced (n : counted) (s : St) : option (counted * St) :=
    match n with
    | Calling f args _ => call f args s
    | Sequence l =>
        match (fix each (l : list counted) (s : St) : option (list counted * St) :=
                 match l with
                 | [] => Some ([], s)
                 | c :: l' =>
                     match replaced c s with
                     | Some (c', s') => match each l' s' with Some (l'', s'') => Some (c' :: l'', s'') | None => None end
                     | None => None
                     end
                 end) l s with
        | Some (l', s') => Some (Sequence l', s')
        | None => None
        end
    | Choice c a b =>
        match replaced a s with
        | Some (a', s') => match replaced b s' with Some (b', s'') => Some (Choice c a' b', s'') | None => None end
        | None => None
        end
    | Counting x a c k b =>
        match loop s with
        | Some (wrap, s') => match replaced b s' with Some (b', s'') => Some (wrap (Counting x a c k b'), s'') | None => None end
        | None => None
        end
    | Naming x a b => match replaced b s with Some (b', s') => Some (Naming x a b', s') | None => None end
    | Remark text b =>
        match remark text s with
        | Some wrap => match replaced b s with Some (b', s') => Some (wrap b', s') | None => None end
        | None => None
        end
    end.
End Replaced.

(** The hints given to the calls. *)
Definition hinted (n : counted) (hints : list (list expr)) : option counted :=
  match replaced (list (list expr))
          (fun f args hs => match hs with h :: hs' => Some (Calling f args h, hs') | [] => None end)
          (fun hs => Some (fun n => n, hs)) (fun text _ => Some (Remark text)) n hints with
  | Some (n', []) => Some n'
  | _ => None
  end.

(** The calls and marks that are told; a loop with a directive has a mark. *)
Definition told_as (n : counted) (marks : list bool) (calls : list (string * list expr * list expr)) : option counted :=
  match replaced (list bool * list (string * list expr * list expr))
          (fun _ _ s => match snd s with (f, args, hint) :: rest => Some (Calling f args hint, (fst s, rest)) | [] => None end)
          (fun s => match fst s with m :: rest => Some (if m : bool then Remark parallel else fun n => n, (rest, snd s)) | [] => None end)
          (fun _ s => match fst s with true :: _ => Some (fun n => n) | _ => None end) n (marks, calls) with
  | Some (n', ([], [])) => Some n'
  | _ => None
  end.

(** The program that is given; its parameters are [names]. *)
Definition given (names : list string) (p : source) : option counted :=
  match p with
  | Term n => Some n
  | Printed text [] => parse false names text
  | Printed text hints => match parse false names text with Some n => hinted n hints | None => None end
  | Region text marks calls => match parse true names text with Some n => told_as n marks calls | None => None end
  end.

(** Such a program in LOOP, if its names are bound and its steps are not 0. *)
Definition readable (names : list string) (p : source) : option counted :=
  match given names p with
  | Some n => if proper names n then Some n else None
  | None => None
  end.

Lemma readable_proper : forall names p n, readable names p = Some n -> given names p = Some n /\ proper names n = true.
Proof.
  intros names p n H. unfold readable in H. destruct (given names p) as [m|]; [|discriminate].
  destruct (proper names m) eqn:E; [|discriminate]. injection H as <-. auto.
Qed.

(** ** A program and its schedule *)

Definition check_text (G : specification) (p : source) (how : proposal) (cs : list certificate) : bool :=
  match readable (sizes G) p with
  | Some n => check G (lowered n) how cs
  | None => false
  end.

(** Whatever the parameters, the program ends, and its trace runs the schedule. *)
Definition implements_as_text (G : program) (n : counted) : Prop :=
  forall p, context G p -> exists t, counts (environment G p) n t /\ runs_schedule (statements G p) t.

Theorem check_text_implements : forall G p how cs, check_text G p how cs = true ->
  exists n, given (sizes G) p = Some n /\ implements_as_text (meant G) n.
Proof.
  intros G p how cs H. unfold check_text in H. destruct (readable (sizes G) p) as [n|] eqn:E; [|discriminate].
  destruct (readable_proper _ _ _ E) as [Hn Hp]. exists n. split; [exact Hn|]. intros q Hq.
  destruct (check_implements _ _ _ _ H) as [_ Himpl]. destruct (Himpl q Hq) as (t & Ht & Hrun).
  exists t. split; [exact (counted_runs _ _ _ _ Hp Ht) | exact Hrun].
Qed.

(** ** Two programs *)

(** What the statements of a text touch is said in these uses. *)
Definition said (names : list string) (uses : list (shape * use)) (p : source) : bool :=
  match p with Region text _ calls => accounted names uses text calls | _ => true end.

(** Of parts of programs in C: what the statements of the first touch is said;
    those of the second are, word by word, the instances of those of the first
    that they are said to be, and no iterator has the name of a parameter. *)
Definition agreeing (T : change) (p p' : source) : bool :=
  let names := sizes (original T) in
  said names (combine (shapes (original T)) (uses T)) p &&
  match p, p' with
  | Region text _ calls, Region text' _ calls' =>
      match parse true names text, parse true names text' with
      | Some n, Some n' =>
          let new := names_in n' in
          negb (existsb (fun x => existsb (String.eqb x) names) (names_in n ++ new)) &&
          forallb (is_instance (combine (leaves n) calls) new) (combine (leaves n') calls')
      | _, _ => false
      end
  | _, Region _ _ _ => false
  | _, _ => true
  end.

Definition both_readable (T : change) (p p' : source) : option (counted * counted) :=
  match readable (sizes (original T)) p, readable (sizes (original T)) p' with
  | Some n, Some n' => if agreeing T p p' then Some (n, n') else None
  | _, _ => None
  end.

Lemma both_proper : forall T p p' n n', both_readable T p p' = Some (n, n') -> let names := sizes (original T) in
  (agreeing T p p' = true /\ given names p = Some n /\ given names p' = Some n') /\ proper names n = true /\ proper names n' = true.
Proof.
  intros T p p' n n' H. unfold both_readable in H. destruct (readable (sizes (original T)) p) as [m|] eqn:E; [|discriminate].
  destruct (readable (sizes (original T)) p') as [m'|] eqn:E'; [|discriminate]. destruct (agreeing T p p'); [|discriminate]. injection H as <- <-.
  apply readable_proper in E as [? ?]. apply readable_proper in E' as [? ?]. auto.
Qed.

(** Both are as they are given, their statements agree, and [claim] holds of them for all parameters. *)
Definition for_texts (T : change) (p p' : source) (claim : env -> counted -> counted -> Prop) : Prop :=
  agreeing T p p' = true /\
  exists n n', given (sizes (original T)) p = Some n /\ given (sizes (original T)) p' = Some n' /\
  forall q, context (meant (original T)) q -> claim (environment (meant (original T)) q) n n'.

Definition check_text_change (T : change) (p p' : source) (how how' : proposal) (cs : list certificate) : bool :=
  match both_readable T p p' with
  | Some (n, n') => check_change T (lowered n) (lowered n') how how' cs
  | None => false
  end.

Definition check_text_private (T : change) (Ss : list (nat * storage)) (p p' : source) (how how' : proposal) (cs : list certificate)
    : bool :=
  match both_readable T p p' with
  | Some (n, n') => check_private T Ss (lowered n) (lowered n') how how' cs
  | None => false
  end.

Definition check_text_reused (T : change) (S : storage) (p p' : source) (how how' : proposal) (cs : list certificate) : bool :=
  match both_readable T p p' with
  | Some (n, n') => check_reused T S (lowered n) (lowered n') how how' cs
  | None => false
  end.

(** [compute_the_same_in_any_order], of loops as they are written. *)
Definition texts_the_same (A : accesses) (e : env) (n n' : counted) : Prop :=
  exists t, counts e n t /\ (exists t', counts e n' t') /\
  forall t', may_count e n' t' ->
  forall (value : Type) combine (effect : event -> memory value -> memory value), obeys A combine effect ->
  forall m, same (run effect t m) (run effect t' m).

Theorem text_same_memory : forall T p p' how how' cs, check_text_change T p p' how how' cs = true ->
  for_texts T p p' (fun e => texts_the_same (stated T e) e).
Proof.
  intros T p p' how how' cs H. unfold check_text_change in H. destruct both_readable as [[n n']|] eqn:E; [|discriminate].
  destruct (both_proper _ _ _ _ _ E) as [(Hagree & Hn & Hn') [Hp Hp']]. split; [exact Hagree|]. exists n, n'. split; [exact Hn | split; [exact Hn'|]]. intros q Hq.
  destruct (check_same_memory _ _ _ _ _ _ H q Hq) as (t & Ht & (t' & Ht') & Hany).
  exists t. split; [exact (counted_runs _ _ _ _ Hp Ht) | split; [exists t'; exact (counted_runs _ _ _ _ Hp' Ht')|]].
  intros u Hu. apply Hany. exact (counted_may_run _ _ _ _ Hp' Hu).
Qed.

(** [compute_the_same_privately]; which iteration an instance is in is told by the loops that count up. *)
Definition texts_the_same_privately (A : accesses) (Ls : list layer) (e : env) (n n' : counted) : Prop :=
  Forall (fun L => tagged (tag_in_layer L) (depth L) false [] e (lowered n')) Ls /\
  exists t, counts e n t /\ (exists t', counts e n' t') /\
  forall t', may_count e n' t' ->
  forall (value : Type) combine (effect : event -> memory value -> memory value),
  obeys A combine effect -> Forall (fun L => surely A (hidden L) effect) Ls ->
  forall m m', same_but (in_layers Ls) value m m' -> leave_alike A Ls effect t t' m m'.

Theorem text_same_privately : forall T Ss p p' how how' cs, check_text_private T Ss p p' how how' cs = true ->
  for_texts T p p' (fun e => texts_the_same_privately (stated T e) (layers_of T Ss e) e).
Proof.
  intros T Ss p p' how how' cs H. unfold check_text_private in H. destruct both_readable as [[n n']|] eqn:E; [|discriminate].
  destruct (both_proper _ _ _ _ _ E) as [(Hagree & Hn & Hn') [Hp Hp']]. split; [exact Hagree|]. exists n, n'. split; [exact Hn | split; [exact Hn'|]]. intros q Hq.
  destruct (check_same_privately _ _ _ _ _ _ _ H q Hq) as (Htag & t & Ht & (t' & Ht') & Hany). split; [exact Htag|].
  exists t. split; [exact (counted_runs _ _ _ _ Hp Ht) | split; [exists t'; exact (counted_runs _ _ _ _ Hp' Ht')|]].
  intros u Hu. apply Hany. exact (counted_may_run _ _ _ _ Hp' Hu).
Qed.

(** [compute_the_same_but]. *)
Definition texts_the_same_but (A : accesses) (temporary : string -> bool) (e : env) (n n' : counted) : Prop :=
  exists t t', counts e n t /\ counts e n' t' /\
  forall (value : Type) combine (effect : event -> memory value -> memory value),
  obeys A combine effect -> surely A temporary effect ->
  forall m m', same_but temporary value m m' ->
  same_but temporary value (run effect t m) (run effect t' m').

Theorem text_same_but : forall T S p p' how how' cs, check_text_reused T S p p' how how' cs = true ->
  for_texts T p p' (fun e => texts_the_same_but (stated T e) (is_temporary S) e).
Proof.
  intros T S p p' how how' cs H. unfold check_text_reused in H. destruct both_readable as [[n n']|] eqn:E; [|discriminate].
  destruct (both_proper _ _ _ _ _ E) as [(Hagree & Hn & Hn') [Hp Hp']]. split; [exact Hagree|]. exists n, n'. split; [exact Hn | split; [exact Hn'|]]. intros q Hq.
  destruct (check_same_but _ _ _ _ _ _ _ H q Hq) as (t & t' & Ht & Ht' & Hsame).
  exists t, t'. split; [exact (counted_runs _ _ _ _ Hp Ht) | split; [exact (counted_runs _ _ _ _ Hp' Ht') | exact Hsame]].
Qed.

(** ** Other storage *)

Definition check_text_stored (U : stored) (p p' : source) (how how' : proposal) (cs : list certificate) : bool :=
  match readable (sizes (written U)) p, readable (sizes (written U)) p' with
  | Some n, Some n' => said (sizes (written U)) (as_written U) p && check_stored U (lowered n) (lowered n') how how' cs
  | _, _ => false
  end.

(** [compute_the_same_values], of loops as they are written. *)
Definition texts_the_same_values (U : stored) (e : env) (n n' : counted) : Prop :=
  exists t, counts e n t /\ (exists t', counts e n' t') /\
  forall t', may_count e n' t' ->
  forall (value : Type) (f : event -> list value -> nat -> value),
  (forall ev x, named (copying U) ev = true -> f ev [x] 0%nat = x) ->
  forall m m' : memory value, (forall c, is_compared U (fst c) = true -> m c = m' c) ->
  forall c, is_compared U (fst c) = true ->
  run (by_values (as_written U) e f) t m c = run (by_values (as_stored U) e f) t' m' c.

(** [for_texts], of other storage; [f] is what the uses of the text are, as those of instances or [everywhere]. *)
Definition for_stored f (U : stored) (p p' : source) (claim : env -> counted -> counted -> Prop) : Prop :=
  said (sizes (written U)) (f (as_written U)) p = true /\
  exists n n', given (sizes (written U)) p = Some n /\ given (sizes (written U)) p' = Some n' /\
  forall q, context (meant (written U)) q -> claim (environment (meant (written U)) q) n n'.

Theorem text_same_values : forall U p p' how how' cs, check_text_stored U p p' how how' cs = true ->
  for_stored (fun uses => uses) U p p' (texts_the_same_values U).
Proof.
  intros U p p' how how' cs H. unfold check_text_stored in H. destruct (readable (sizes (written U)) p) as [n|] eqn:E; [|discriminate].
  destruct (readable (sizes (written U)) p') as [n'|] eqn:E'; [|discriminate].
  destruct (readable_proper _ _ _ E) as [Hn Hp]. destruct (readable_proper _ _ _ E') as [Hn' Hp'].
  apply andb_prop in H as [Hsaid H]. split; [exact Hsaid|]. exists n, n'. split; [exact Hn | split; [exact Hn'|]]. intros q Hq.
  destruct (check_same_values _ _ _ _ _ _ H q Hq) as (t & Ht & (t' & Ht') & Hany).
  exists t. split; [exact (counted_runs _ _ _ _ Hp Ht) | split; [exists t'; exact (counted_runs _ _ _ _ Hp' Ht')|]].
  intros u Hu. apply Hany. exact (counted_may_run _ _ _ _ Hp' Hu).
Qed.
