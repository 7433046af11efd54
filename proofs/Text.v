(** * Checks of programs that are given as texts

    A program is given as a term, or as its text in C, which [Parser.v] reads.
    The checks are those of [Checker.v], [Changes.v], [Temporaries.v] and
    [Reused.v]; their theorems are about the loops as they are written, up or
    down ([Counting.v]). *)

From Coq Require Import ZArith List String Bool.
From Loopwright Require Import Loop Scope Poly Formulas Memory Transformation Parallel Private Counting Parser.
From Loopwright Require Import Linear Symbolic Specification Checker Changes Temporaries Reused.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** How a program is given *)

(** [Printed text hints]: where instances have several times, [hints] has the
    times that the calls stand for, in the order of the text; else it is empty. *)
Inductive source :=
| Term (n : counted)
| Printed (text : string) (hints : list (list expr)).

(** The hints given to the calls, one after the other; those that are left. *)
Fixpoint hinted (n : counted) (hints : list (list expr)) : option (counted * list (list expr)) :=
  match n with
  | Calling f args _ => match hints with h :: hints' => Some (Calling f args h, hints') | [] => None end
  | Sequence l =>
      match (fix each (l : list counted) (hints : list (list expr)) : option (list counted * list (list expr)) :=
               match l with
               | [] => Some ([], hints)
               | c :: l' =>
                   match hinted c hints with
                   | Some (c', hints') =>
                       match each l' hints' with
                       | Some (l'', hints'') => Some (c' :: l'', hints'')
                       | None => None
                       end
                   | None => None
                   end
               end) l hints with
      | Some (l', hints') => Some (Sequence l', hints')
      | None => None
      end
  | Choice c a b =>
      match hinted a hints with
      | Some (a', hints') => match hinted b hints' with Some (b', hints'') => Some (Choice c a' b', hints'') | None => None end
      | None => None
      end
  | Counting x a c s b => match hinted b hints with Some (b', hints') => Some (Counting x a c s b', hints') | None => None end
  | Naming x a b => match hinted b hints with Some (b', hints') => Some (Naming x a b', hints') | None => None end
  | Remark text b => match hinted b hints with Some (b', hints') => Some (Remark text b', hints') | None => None end
  end.

(** The program that is given; its parameters are [names]. *)
Definition given (names : list string) (p : source) : option counted :=
  match p with
  | Term n => Some n
  | Printed text [] => parse names text
  | Printed text hints =>
      match parse names text with
      | Some n => match hinted n hints with Some (n', []) => Some n' | _ => None end
      | None => None
      end
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

Definition both_readable (names : list string) (p p' : source) : option (counted * counted) :=
  match readable names p, readable names p' with
  | Some n, Some n' => Some (n, n')
  | _, _ => None
  end.

Lemma both_proper : forall names p p' n n', both_readable names p p' = Some (n, n') ->
  (given names p = Some n /\ given names p' = Some n') /\ proper names n = true /\ proper names n' = true.
Proof.
  intros names p p' n n' H. unfold both_readable in H. destruct (readable names p) as [m|] eqn:E; [|discriminate].
  destruct (readable names p') as [m'|] eqn:E'; [|discriminate]. injection H as <- <-.
  apply readable_proper in E as [? ?]. apply readable_proper in E' as [? ?]. auto.
Qed.

(** Both are as they are given, and [claim] holds of them for all parameters. *)
Definition for_texts (T : change) (p p' : source) (claim : env -> counted -> counted -> Prop) : Prop :=
  exists n n', given (sizes (original T)) p = Some n /\ given (sizes (original T)) p' = Some n' /\
  forall q, context (meant (original T)) q -> claim (environment (meant (original T)) q) n n'.

Definition check_text_change (T : change) (p p' : source) (how how' : proposal) (cs : list certificate) : bool :=
  match both_readable (sizes (original T)) p p' with
  | Some (n, n') => check_change T (lowered n) (lowered n') how how' cs
  | None => false
  end.

Definition check_text_private (T : change) (Ss : list (nat * storage)) (p p' : source) (how how' : proposal) (cs : list certificate)
    : bool :=
  match both_readable (sizes (original T)) p p' with
  | Some (n, n') => check_private T Ss (lowered n) (lowered n') how how' cs
  | None => false
  end.

Definition check_text_reused (T : change) (S : storage) (p p' : source) (how how' : proposal) (cs : list certificate) : bool :=
  match both_readable (sizes (original T)) p p' with
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
  destruct (both_proper _ _ _ _ _ E) as [[Hn Hn'] [Hp Hp']]. exists n, n'. split; [exact Hn | split; [exact Hn'|]]. intros q Hq.
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
  forall m m', same_but (in_layers Ls) value m m' ->
  same_but (in_layers Ls) value (run effect t m) (run (with_layers Ls effect) t' m').

Theorem text_same_privately : forall T Ss p p' how how' cs, check_text_private T Ss p p' how how' cs = true ->
  for_texts T p p' (fun e => texts_the_same_privately (stated T e) (layers_of T Ss e) e).
Proof.
  intros T Ss p p' how how' cs H. unfold check_text_private in H. destruct both_readable as [[n n']|] eqn:E; [|discriminate].
  destruct (both_proper _ _ _ _ _ E) as [[Hn Hn'] [Hp Hp']]. exists n, n'. split; [exact Hn | split; [exact Hn'|]]. intros q Hq.
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
  destruct (both_proper _ _ _ _ _ E) as [[Hn Hn'] [Hp Hp']]. exists n, n'. split; [exact Hn | split; [exact Hn'|]]. intros q Hq.
  destruct (check_same_but _ _ _ _ _ _ _ H q Hq) as (t & t' & Ht & Ht' & Hsame).
  exists t, t'. split; [exact (counted_runs _ _ _ _ Hp Ht) | split; [exact (counted_runs _ _ _ _ Hp' Ht') | exact Hsame]].
Qed.
