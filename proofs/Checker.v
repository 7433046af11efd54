(** * A checker for programs

    [check G n how certificates] computes, from a specification, a program, and
    proposals how to see that the one runs the other, a list of goals, and
    checks a certificate for each.  If it says [true], the program implements
    the specification, for all values of the parameters ([check_implements]).
    [Changes.v] does the same for a whole transformation.

    What has to be read to know what is claimed: [specification] and its
    meaning [meant] (Specification.v), and what [Loop.v] and [Poly.v] define.
    Guides, covers, ties and certificates cannot make a wrong answer right. *)

From Coq Require Import ZArith List String Bool Lia.
From Loopwright Require Import Loop Scope Lexicographic Poly Formulas Reduction.
From Loopwright Require Import Linear Symbolic Specification Conditions Walk Coverage.
Import ListNotations.
Open Scope Z_scope.
Open Scope list_scope.

(** ** Certificates for all goals *)

Fixpoint refutes_all (cs : list certificate) (gs : list goal) : bool :=
  match cs, gs with
  | [], [] => true
  | c :: cs', g :: gs' => refutes c g && refutes_all cs' gs'
  | _, _ => false
  end.

Lemma refutes_all_sound : forall cs gs, refutes_all cs gs = true -> Forall refuted gs.
Proof.
  induction cs as [|c cs IH]; intros [|g gs] H; cbn [refutes_all] in H; try discriminate; constructor.
  - apply andb_prop in H as [H _]. exact (refutes_sound c g H).
  - apply andb_prop in H as [_ H]. exact (IH gs H).
Qed.

(** ** Parameters *)

Definition beginning (G : specification) : scope * state :=
  let (ps, s0) := fresh_list (sizes G) (State 0 [] []) in
  let c := combine (sizes G) ps in
  let (f, s1) := known c true (assumption G) s0 in
  (c, assume f s1).

Lemma beginning_models : forall G p c s, beginning G = (c, s) -> context (meant G) p ->
  exists v, models v s /\ agrees (environment (meant G) p) c v.
Proof.
  intros G p c s H [Hlen Hp]. unfold beginning in H.
  destruct (fresh_list (sizes G) (State 0 [] [])) as [ps s0] eqn:E1.
  destruct (known (combine (sizes G) ps) true (assumption G) s0) as [f s1] eqn:E2. injection H as <- <-.
  assert (Hm : models [] (State 0 [] [])) by (constructor; [reflexivity | constructor | constructor]).
  destruct (fresh_list_models _ _ _ _ _ p E1 Hm Hlen) as (w1 & Hm1 & Hps).
  pose proof (agrees_combine _ (sizes G) _ _ Hps) as Hc.
  destruct (known_models _ _ _ _ _ _ _ _ E2 Hc Hm1) as (w2 & Hm2 & Hf).
  exists (([] ++ w1) ++ w2). split; [exact (assume_models _ _ _ Hm2 (Hf Hp)) | apply agrees_more, Hc].
Qed.

(** ** Times that tell instances apart

    Where the schedule gives several instances the same time, ties are broken by
    further places: running by strictly increasing longer times is running in
    the order of the schedule, and nothing twice. *)

Definition with_time (h : shape) (t : list expr) : shape :=
  Shape (shape_name h) (shape_arguments h) (shape_hints h) (shape_domain h) t.

Fixpoint retimed (f : shape -> list expr -> list expr) (hs : list shape) (ts : list (list expr)) : list shape :=
  match hs, ts with
  | h :: hs', t :: ts' => with_time h (f h t) :: retimed f hs' ts'
  | _, _ => hs
  end.

Definition untied : list shape -> list (list expr) -> list shape := retimed (fun h t => shape_time h ++ t).

(** The same statements, with other times. *)
Definition alike (R : list expr -> list expr -> Prop) (h h' : shape) : Prop :=
  exists t, h' = with_time h t /\ R (shape_time h) t.

Lemma find_alike : forall R hs hs', Forall2 (alike R) hs hs' -> forall f n m,
  (find_shape hs f n m = None /\ find_shape hs' f n m = None) \/
  exists h h', find_shape hs f n m = Some h /\ find_shape hs' f n m = Some h' /\ alike R h h'.
Proof.
  intros R hs hs' H f n m. induction H as [|h h' hs hs' (t & -> & Ht) _ IH]; [left; auto|].
  cbn [find_shape with_time shape_name shape_arguments shape_hints].
  destruct (String.eqb f (shape_name h) && Nat.eqb n (List.length (shape_arguments h)) &&
            Nat.eqb m (List.length (shape_hints h))); [|exact IH].
  right. exists h, (with_time h t). split; [reflexivity | split; [reflexivity|]]. exists t. auto.
Qed.

Lemma scheduled_alike : forall R hs hs' e ev, Forall2 (alike R) hs hs' ->
  scheduled (poly_of hs e) ev <-> scheduled (poly_of hs' e) ev.
Proof.
  intros R hs hs' e [f x y] H. rewrite !scheduled_instance. unfold has_instance. cbn [name_of arguments_of hint_of].
  destruct (find_alike R _ _ H f (List.length x) (List.length y)) as [[-> ->] | (h & h' & -> & -> & t & -> & _)]; reflexivity.
Qed.

Lemma same_alike : forall R (hs : list shape), (forall h, In h hs -> alike R h h) -> Forall2 (alike R) hs hs.
Proof. induction hs as [|h hs IH]; intros H; constructor; [apply H; left; reflexivity | apply IH; intros g Hg; apply H; right; exact Hg]. Qed.

Definition longer (t u : list expr) : Prop := exists more, u = t ++ more.

Lemma untied_alike : forall hs ts, Forall2 (alike longer) hs (untied hs ts).
Proof.
  unfold untied. induction hs as [|h hs IH]; intros [|t ts]; cbn [retimed]; [constructor | constructor | |].
  - apply same_alike. intros g _. exists (shape_time g). split; [destruct g; reflexivity|]. exists []. rewrite app_nil_r. reflexivity.
  - constructor; [|apply IH]. exists (shape_time h ++ t). split; [reflexivity|]. exists t. reflexivity.
Qed.

Lemma lex_lt_front : forall a b t u, List.length a = List.length b -> lex_lt (a ++ t) (b ++ u) -> ~ lex_lt b a.
Proof.
  induction a as [|x a IH]; intros [|y b] t u Hlen; try discriminate; cbn [app lex_lt]; [auto|].
  intros [H | [-> H]] [H' | [H' H'']]; try lia. cbn in Hlen. exact (IH b t u ltac:(lia) H H'').
Qed.

(** All times have the same number of places. *)
Definition same_width (hs : list shape) : bool :=
  match hs with
  | [] => true
  | h :: hs' => forallb (fun g => Nat.eqb (List.length (shape_time g)) (List.length (shape_time h))) hs'
  end.

Lemma same_width_known : forall hs g h, same_width hs = true -> In g hs -> In h hs ->
  List.length (shape_time g) = List.length (shape_time h).
Proof.
  intros [|k hs] g h H; [intros []|]. cbn [same_width] in H. rewrite forallb_forall in H.
  assert (Hk : forall g, In g (k :: hs) -> List.length (shape_time g) = List.length (shape_time k)).
  { intros f [<- | Hf]; [reflexivity | apply Nat.eqb_eq, H, Hf]. }
  intros Hg Hh. rewrite (Hk g Hg), (Hk h Hh). reflexivity.
Qed.

Lemma untied_after : forall hs ts e a b, same_width hs = true ->
  scheduled (poly_of hs e) a -> scheduled (poly_of hs e) b ->
  sooner (poly_of (untied hs ts) e) a b -> after (poly_of hs e) a b.
Proof.
  intros hs ts e a b Hwidth Ha Hb H. unfold sooner in H. split.
  { intros ->. exact (lex_lt_irreflexive _ H). }
  unfold in_time. pose proof (untied_alike hs ts) as Hlike.
  assert (Hparts : forall ev, scheduled (poly_of hs e) ev -> exists h more, In h hs /\
            List.length (time_of (poly_of hs e) ev) = List.length (shape_time h) /\
            time_of (poly_of (untied hs ts) e) ev = time_of (poly_of hs e) ev ++ more).
  { intros [f x y] Hev. rewrite !time_instance.
    apply scheduled_instance in Hev. unfold has_instance, at_time in *. cbn [name_of arguments_of hint_of] in *.
    destruct (find_alike _ _ _ Hlike f (List.length x) (List.length y)) as [[E1 E2] | (h & h' & E1 & E2 & t & -> & u & Hu)];
      rewrite E1 in *; [contradiction|]. rewrite E2. exists h, (map (eval (instance e h x y)) u).
    split; [apply find_shape_known in E1; apply E1 | split; [apply map_length|]].
    cbn [with_time shape_time]. rewrite Hu, map_app. reflexivity. }
  destruct (Hparts a Ha) as (h & more & Hh & Hla & Hta). destruct (Hparts b Hb) as (h' & more' & Hh' & Hlb & Htb).
  rewrite Hta, Htb in H. apply (lex_lt_front _ _ more more'); [|exact H].
  rewrite Hla, Hlb. exact (same_width_known _ _ _ Hwidth Hh Hh').
Qed.

(** ** A program and its specification *)

(** How to see it: the order, the calls that run the instances of each
    statement, and further places for times that are equal. *)
Record proposal := Proposal {
  order : guide;
  covered : list cover;
  ties : list (list expr)
}.

Definition goals (G : specification) (n : node) (how : proposal) : list goal :=
  let (c, s) := beginning G in
  walk (untied (shapes G) (ties how)) c (order how) c s [] [] n ++ covers_goals c s n (shapes G) (covered how).

(** The terms of the specification use no names but their own. *)
Definition closed_shape (names : list string) (h : shape) : bool :=
  let own := shape_arguments h ++ shape_hints h ++ names in
  closed_test own (shape_domain h) && forallb (closed_expr own) (shape_time h).

Definition closed_specification (G : specification) : bool :=
  closed_test (sizes G) (assumption G) && forallb (closed_shape (sizes G)) (shapes G).

Definition well_formed (G : specification) (n : node) : bool :=
  closed_specification G && closed (sizes G) n && same_width (shapes G).

Definition check (G : specification) (n : node) (how : proposal) (cs : list certificate) : bool :=
  well_formed G n && refutes_all cs (goals G n how).

Lemma walked : forall G n how p, Forall refuted (goals G n how) -> context (meant G) p ->
  let e := environment (meant G) p in
  regular e n /\ (forall ev, scheduled (poly_of (shapes G) e) ev -> reached e n ev) /\
  (forall ev, reached e n ev -> scheduled (poly_of (shapes G) e) ev) /\
  ordered (sooner (poly_of (untied (shapes G) (ties how)) e)) e n.
Proof.
  intros G n how p H Hp e. unfold goals in H. destruct (beginning G) as [c s] eqn:E.
  apply Forall_app in H as [H1 H2].
  destruct (beginning_models _ _ _ _ E Hp) as (v & Hm & Hc).
  pose proof (walk_sound _ e c n _ _ _ _ _ e v [] [] H1 Hc Hc Hm (Forall2_nil _) (Forall2_nil _)) as [Hreg Hord Htime].
  split; [exact Hreg | split; [|split; [|exact Hord]]].
  - exact (covers_sound _ _ _ _ _ _ _ H2 Hm Hc).
  - intros ev Hev. destruct (Htime ev Hev) as [Hs _]. revert Hs. apply (scheduled_alike longer). apply untied_alike.
Qed.

Lemma ordered_among : forall (R S : event -> event -> Prop) (Q : event -> Prop),
  (forall a b, Q a -> Q b -> R a b -> S a b) ->
  forall n e, (forall ev, reached e n ev -> Q ev) -> ordered R e n -> ordered S e n.
Proof.
  intros R S Q HRS.
  induction n as [f args hint|cs IH|c i j IHi IHj|x i c s n IHn|x i n IHn|text n IHn]
    using node_induction; intros e HQ; cbn [ordered]; auto.
  - cbn [reached] in HQ. induction IH as [|c cs Hc _ IHcs]; [auto|]. intros (H1 & H2 & H3). cbn [map any] in HQ.
    split; [apply Hc; [intros ev Hev; apply HQ; auto | exact H1]|].
    split; [|apply IHcs; [intros ev Hev; apply HQ; auto | exact H3]].
    intros a b Ha Hb. apply HRS; auto.
  - cbn [reached] in HQ. intros [H1 H2].
    split; intros H; [apply IHi | apply IHj]; auto; intros ev Hev; apply HQ; auto.
  - cbn [reached] in HQ. intros [H1 H2]. split.
    + intros v Hv Hc. apply IHn; [|auto]. intros ev Hev. apply HQ. eauto.
    + intros v w Hv Hcv Hw Hcw Hlt a b Ha Hb. apply HRS; [apply HQ; eauto | apply HQ; eauto | eauto].
Qed.

Lemma goals_implement : forall G n how, well_formed G n = true -> Forall refuted (goals G n how) -> implements (meant G) n.
Proof.
  intros G n how Hwell H. unfold well_formed in Hwell. apply andb_prop in Hwell as [Hwell Hwidth].
  apply andb_prop in Hwell as [_ Hclosed]. apply program_correct; [exact Hclosed|]. intros p Hp.
  destruct (walked G n how p H Hp) as (Hreg & Hcov & Hsound & Hord). constructor; auto.
  revert Hord. apply ordered_among with (Q := scheduled (poly_of (shapes G) (environment (meant G) p))); [|exact Hsound].
  intros a b Ha Hb. exact (untied_after _ _ _ _ _ Hwidth Ha Hb).
Qed.

(** A program that passes the check runs exactly what is specified, in order,
    for all values of the parameters. *)
Theorem check_implements : forall G n how cs, check G n how cs = true -> implements (meant G) n.
Proof.
  intros G n how cs H. unfold check in H. apply andb_prop in H as [Hwell H].
  exact (goals_implement G n how Hwell (refutes_all_sound _ _ H)).
Qed.
