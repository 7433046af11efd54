(** * Order with one obligation for each call

    [ordered] compares all pairs of calls.  Where the iterators of the loops
    are places of the schedule, as they are in programs made by scanning, it
    is enough to compare each call with the iterators around it. *)

From Coq Require Import ZArith List String Lia.
From Loopwright Require Import Loop Lexicographic Poly Formulas Reduction.
Import ListNotations.
Open Scope Z_scope.

(** The first places of [t] are [key]. *)
Fixpoint starts_with (key t : list Z) : Prop :=
  match key, t with
  | [], _ => True
  | a :: key', b :: t' => a = b /\ starts_with key' t'
  | _ :: _, [] => False
  end.

Lemma starts_with_before : forall common v w t u,
  v < w -> starts_with (common ++ [v]) t -> starts_with (common ++ [w]) u -> lex_lt t u.
Proof.
  induction common as [|a common IH]; intros v w [|b t] [|c u]; simpl; try tauto; intros Hlt.
  - intros [-> _] [-> _]. left. exact Hlt.
  - intros [-> Ht] [-> Hu]. right. split; [reflexivity | exact (IH v w t u Hlt Ht Hu)].
Qed.

(** A loop whose iterator is the place of the schedule that comes after
    [common], in the time of everything in its body. *)
Theorem order_loop : forall P (R : event -> event -> Prop) common e x i c s n,
  (forall a b, sooner P a b -> R a b) ->
  (forall v, strided (eval e i) s v -> holds ((x, v) :: e) c ->
     forall ev, reached ((x, v) :: e) n ev -> starts_with (common ++ [v]) (time_of P ev)) ->
  (forall v, strided (eval e i) s v -> holds ((x, v) :: e) c -> ordered R ((x, v) :: e) n) ->
  ordered R e (For x i c s n).
Proof.
  intros P R common e x i c s n HR Hkey Hbody. split; [exact Hbody|].
  intros v w Hv Hcv Hw Hcw Hlt a b Ha Hb. apply HR.
  exact (starts_with_before common v w _ _ Hlt (Hkey v Hv Hcv a Ha) (Hkey w Hw Hcw b Hb)).
Qed.

(** The children of a block run one after the other: there are times between
    them, [cuts], such that each child keeps between its two.  The empty vector
    is before all times. *)
Fixpoint cut_by (P : poly) (e : env) (low : list Z) (cuts : list (list Z)) (cs : list node) : Prop :=
  match cuts with
  | [] =>
      match cs with
      | [] => True
      | [c] => forall ev, reached e c ev -> ~ lex_lt (time_of P ev) low
      | _ => False
      end
  | cut :: cuts' =>
      match cs with
      | [] => True
      | c :: cs' =>
          (forall ev, reached e c ev -> ~ lex_lt (time_of P ev) low /\ lex_lt (time_of P ev) cut) /\
          ~ lex_lt cut low /\ cut_by P e cut cuts' cs'
      end
  end.

Lemma not_before_trans : forall a b c, ~ lex_lt b a -> ~ lex_lt c b -> ~ lex_lt c a.
Proof.
  intros a b c Hab Hbc Hca. destruct (lex_lt_total a b) as [H | [-> | H]]; auto.
  exact (Hbc (lex_lt_transitive _ _ _ Hca H)).
Qed.

Lemma cut_by_low : forall P e cs cuts low ev,
  cut_by P e low cuts cs -> any (map (fun c => reached e c ev) cs) -> ~ lex_lt (time_of P ev) low.
Proof.
  induction cs as [|c cs IH]; intros [|cut cuts] low ev H Hev;
    cbn in Hev; cbn [cut_by] in H; try contradiction.
  - destruct cs as [|d cs]; [|destruct H]. destruct Hev as [Hev | []]. exact (H ev Hev).
  - destruct H as (Hc & Hle & Hcs). destruct Hev as [Hev | Hev].
    + exact (proj1 (Hc ev Hev)).
    + exact (not_before_trans _ _ _ Hle (IH cuts cut ev Hcs Hev)).
Qed.

Theorem order_block : forall P (R : event -> event -> Prop) cuts e cs,
  (forall a b, sooner P a b -> R a b) ->
  cut_by P e [] cuts cs -> all (map (ordered R e) cs) ->
  ordered R e (Block cs).
Proof.
  intros P R cuts e cs HR. generalize (@nil Z) as low. revert cuts.
  induction cs as [|c cs IH]; intros cuts low Hcut Hall; [exact I|].
  cbn [map] in Hall. apply all_cons in Hall as [Hc Hcs].
  destruct cuts as [|cut cuts].
  - destruct cs as [|d cs]; [|destruct Hcut]. split; [exact Hc | split; [|exact I]].
    intros a b _ [].
  - destruct Hcut as (Hbetween & _ & Hcut). split; [exact Hc | split; [|exact (IH cuts cut Hcut Hcs)]].
    intros a b Ha Hb. destruct (Hbetween a Ha) as [_ Hbefore].
    pose proof (cut_by_low _ _ _ _ _ _ Hcut Hb) as Hafter. apply HR. unfold sooner.
    destruct (lex_lt_total cut (time_of P b)) as [H | [H | H]]; [| |contradiction].
    + exact (lex_lt_transitive _ _ _ Hbefore H).
    + rewrite <- H. exact Hbefore.
Qed.

(** Where there are no such times: all pairs of calls in different children. *)
Fixpoint siblings_ordered (R : event -> event -> Prop) (e : env) (cs : list node) : Prop :=
  match cs with
  | [] => True
  | c :: cs' =>
      (forall a b, reached e c a -> any (map (fun d => reached e d b) cs') -> R a b) /\
      siblings_ordered R e cs'
  end.

Theorem order_siblings : forall (R : event -> event -> Prop) e cs,
  siblings_ordered R e cs -> all (map (ordered R e) cs) -> ordered R e (Block cs).
Proof.
  intros R e cs. induction cs as [|c cs IH]; intros Hpairs Hall; [exact I|].
  cbn [map] in Hall. apply all_cons in Hall as [Hc Hcs]. destruct Hpairs as [Hc' Hpairs].
  exact (conj Hc (conj Hc' (IH Hpairs Hcs))).
Qed.

(** All pairs of calls in different iterations. *)
Theorem order_iterations : forall (R : event -> event -> Prop) e x i c s n,
  (forall v w,
     strided (eval e i) s v -> holds ((x, v) :: e) c ->
     strided (eval e i) s w -> holds ((x, w) :: e) c -> v < w ->
     forall a b, reached ((x, v) :: e) n a -> reached ((x, w) :: e) n b -> R a b) ->
  (forall v, strided (eval e i) s v -> holds ((x, v) :: e) c -> ordered R ((x, v) :: e) n) ->
  ordered R e (For x i c s n).
Proof. intros R e x i c s n Hpairs Hbody. exact (conj Hbody Hpairs). Qed.
