(** * From the text of a program to its term

    [parse names text] is the program of [Counting.v] that a text in C is: loops,
    conditions, declarations of integers, calls, and expressions with [min],
    [max] and [floord].  Anything else is [None].  What is trusted of it is
    that it reads C as C does; it is a function that can be read and run.

    [names] are the parameters.  A loop that assigns to an iterator declared
    elsewhere is a loop of LOOP only if no other use of the name is in scope.

    Directives are remarks on the loops after them.  Of a program in C, [opaque],
    the statements are calls that are named by their words. *)

From Coq Require Import ZArith List String Ascii Bool.
From Loopwright Require Import Loop Scope Parallel Counting.
Import ListNotations.
Open Scope string_scope.
Open Scope list_scope.
Open Scope Z_scope.

(** ** Words *)

Inductive token :=
| Word (letters : string)
| Number (value : Z) (letters : string)
| Sign (letters : string)
| Directive (words : string)   (* the rest of a line that begins with # *)
| Unread (letters : string).   (* numbers of other kinds, and what no program of LOOP has *)

Definition code (c : ascii) : Z := Z.of_N (N_of_ascii c).

(** [code a <=? code b], from the highest bit on: every letter of a text is compared several times. *)
Definition at_most (a b : ascii) : bool :=
  match a, b with
  | Ascii a0 a1 a2 a3 a4 a5 a6 a7, Ascii b0 b1 b2 b3 b4 b5 b6 b7 =>
      if xorb a7 b7 then b7 else if xorb a6 b6 then b6 else if xorb a5 b5 then b5 else if xorb a4 b4 then b4
      else if xorb a3 b3 then b3 else if xorb a2 b2 then b2 else if xorb a1 b1 then b1 else negb a0 || b0
  end.

Lemma at_most_code : forall a b, at_most a b = (code a <=? code b).
Proof.
  set (all := map ascii_of_nat (seq 0 256)).
  assert (Hall : forall a, In a all).
  { intros a. apply in_map_iff. exists (nat_of_ascii a). split; [apply ascii_nat_embedding|].
    apply in_seq. split; [apply Nat.le_0_l|]. exact (nat_ascii_bounded a). }
  assert (H : forallb (fun a => forallb (fun b => Bool.eqb (at_most a b) (code a <=? code b)) all) all = true)
    by (vm_compute; reflexivity).
  intros a b. rewrite forallb_forall in H. specialize (H a (Hall a)). rewrite forallb_forall in H.
  exact (eqb_prop _ _ (H b (Hall b))).
Qed.

Definition between (low high c : ascii) : bool := at_most low c && at_most c high.
Definition is_digit : ascii -> bool := between "0" "9".
Definition is_letter (c : ascii) : bool := between "a" "z" c || between "A" "Z" c || Ascii.eqb c "_".
Definition is_end_of_line (c : ascii) : bool := Ascii.eqb c "010".
Definition is_blank (c : ascii) : bool := Ascii.eqb c " " || between "009" "013" c.
Definition is_backslash (c : ascii) : bool := Ascii.eqb c "\".
Definition digit (c : ascii) : Z := code c - 48.

Definition pairs : list string :=
  ["++"; "--"; "+="; "-="; "*="; "/="; "%="; "&="; "|="; "^="; "<="; ">="; "=="; "!="; "&&"; "||"; "<<"; ">>"; "->"].

(** What has been read of the word that is being read; letters are kept last first. *)
Inductive reading :=
| Between
| InWord (so_far : string)
| InNumber (so_far : string)
| InSign (first : ascii)
| InLine
| InComment (star : bool)
| InDirective (so_far : string).

Fixpoint reversed (s so_far : string) : string :=
  match s with
  | EmptyString => so_far
  | String c s' => reversed s' (String c so_far)
  end.

(** Decimal digits, none of which is a leading 0 (that would be an octal number), and [L] or [LL]. *)
Fixpoint decimal (value : Z) (s : string) : option Z :=
  match s with
  | EmptyString => Some value
  | String c s' =>
      if is_digit c then decimal (10 * value + digit c) s'
      else if String.eqb s "L" || String.eqb s "LL" then Some value else None
  end.

Definition number_token (s : string) : token :=
  let plain := match s with
               | String c (String d _) => negb (Ascii.eqb c "0") || negb (is_digit d)
               | _ => true
               end in
  match decimal 0 s with
  | Some value => if plain then Number value s else Unread s
  | None => Unread s
  end.

Definition finished (r : reading) : list token :=
  match r with
  | Between | InLine => []
  | InWord s => [Word (reversed s "")]
  | InNumber s => [number_token (reversed s "")]
  | InSign c => [Sign (String c "")]
  | InComment _ => [Unread "/*"]
  | InDirective s => [Directive (reversed s "")]
  end.

Definition begun (c : ascii) : list token * reading :=
  if is_blank c then ([], Between)
  else if is_letter c then ([], InWord (String c ""))
  else if is_digit c then ([], InNumber (String c ""))
  else if Ascii.eqb c "#" then ([], InDirective "")
  else if Ascii.eqb c "034" || Ascii.eqb c "'" || is_backslash c then ([Unread (String c "")], Between)
  else ([], InSign c).

(** The words that end with the letter [c], and what is being read after it. *)
Definition read_letter (r : reading) (c : ascii) : list token * reading :=
  let next (_ : unit) := let (ts, r') := begun c in (finished r ++ ts, r') in
  match r with
  | Between => begun c
  | InWord s => if is_letter c || is_digit c then ([], InWord (String c s)) else next tt
  | InNumber s =>
      let exponent := match s with String d _ => existsb (Ascii.eqb d) ["e"; "E"; "p"; "P"]%char | _ => false end in
      if is_letter c || is_digit c || Ascii.eqb c "." || exponent && (Ascii.eqb c "+" || Ascii.eqb c "-")
      then ([], InNumber (String c s)) else next tt
  | InSign a =>
      let both := String a (String c "") in
      if String.eqb both "//" then ([], InLine)
      else if String.eqb both "/*" then ([], InComment false)
      else if existsb (String.eqb both) pairs then ([Sign both], Between)
      else next tt
  | InLine =>
      if is_end_of_line c then ([], Between)
      else if is_backslash c then ([Unread "\"], InLine) else ([], InLine)
  | InComment star =>
      if star && Ascii.eqb c "/" then ([], Between) else ([], InComment (Ascii.eqb c "*"))
  | InDirective s =>
      if is_end_of_line c then (finished r, Between)
      else if is_backslash c then ([Unread "\"], InLine) else ([], InDirective (String c s))
  end.

Fixpoint words_from (r : reading) (s : string) : list token :=
  match s with
  | EmptyString => finished r
  | String c s' => let (ts, r') := read_letter r c in ts ++ words_from r' s'
  end.

Definition words : string -> list token := words_from Between.

(** ** Expressions

    In C a comparison is a number, and a number a condition; LOOP tells them apart. *)

Inductive term := Value (a : expr) | Truth (t : test).

Definition value_of (m : term) : expr :=
  match m with
  | Value a => a
  | Truth t => Select t (Int 1) (Int 0)
  end.

Definition truth_of (m : term) : test :=
  match m with
  | Truth t => t
  | Value (Int v) => if v =? 0 then Or [] else And []
  | Value a => Compare NE a (Int 0)
  end.

(** Products of numbers other than 0 are numbers; of them [Ranges.v] knows what was multiplied. *)
Definition scaled (k : Z) (a : expr) : expr :=
  match a with
  | Int v => if (k =? 0) || (v =? 0) then Scaled k a else Int (k * v)
  | _ => Scaled k a
  end.

(** A sum of one term is a cast to 64 bits; of it [Ranges.v] knows the type. *)
Definition added (a b : expr) : expr :=
  match a with
  | Sum ((_ :: _ :: _) as l) => Sum (l ++ [b])
  | _ => Sum [a; b]
  end.

Definition after_cast (ts : list token) : option (list token) :=
  let is_long := String.eqb "long" in
  match ts with
  | Word t :: Sign s :: rest => if is_long t && String.eqb s ")" then Some rest else None
  | Word t :: Word u :: Sign s :: rest => if is_long t && is_long u && String.eqb s ")" then Some rest else None
  | _ => None
  end.

Definition applied (sign : string) (m m' : term) : option term :=
  let a := value_of m in
  let b := value_of m' in
  let compared r := Some (Truth (Compare r a b)) in
  if String.eqb sign "+" then Some (Value (added a b))
  else if String.eqb sign "-" then Some (Value (added a (scaled (-1) b)))
  else if String.eqb sign "*" then
    match a, b with
    | Int k, _ => Some (Value (scaled k b))
    | _, Int k => Some (Value (scaled k a))
    | _, _ => None
    end
  else if String.eqb sign "/" then match b with Int (Z.pos d) => Some (Value (TruncDiv a d)) | _ => None end
  else if String.eqb sign "%" then match b with Int (Z.pos d) => Some (Value (Rem a d)) | _ => None end
  else if String.eqb sign "<" then compared LT
  else if String.eqb sign "<=" then compared LE
  else if String.eqb sign ">" then compared GT
  else if String.eqb sign ">=" then compared GE
  else if String.eqb sign "==" then compared EQ
  else if String.eqb sign "!=" then compared NE
  else if String.eqb sign "&&" then Some (Truth (And [truth_of m; truth_of m']))
  else if String.eqb sign "||" then Some (Truth (Or [truth_of m; truth_of m']))
  else None.

(** How strongly C's operators bind; all of these group from the left. *)
Definition precedence (sign : string) : option nat :=
  let among l := existsb (String.eqb sign) l in
  if among ["*"; "/"; "%"] then Some 6%nat
  else if among ["+"; "-"] then Some 5%nat
  else if among ["<"; "<="; ">"; ">="] then Some 4%nat
  else if among ["=="; "!="] then Some 3%nat
  else if String.eqb sign "&&" then Some 2%nat
  else if String.eqb sign "||" then Some 1%nat
  else None.

Definition function (name : string) (arguments : list expr) : option term :=
  match arguments with
  | [a; b] =>
      if String.eqb name "min" then Some (Value (Min [a; b]))
      else if String.eqb name "max" then Some (Value (Max [a; b]))
      else if String.eqb name "floord" then match b with Int (Z.pos d) => Some (Value (FloorDiv a d)) | _ => None end
      else None
  | _ => None
  end.

Definition parser (A : Type) : Type := list token -> option (A * list token).

Definition then_ {A B : Type} (found : option (A * list token)) (next : A -> parser B) : option (B * list token) :=
  match found with
  | Some (a, ts) => next a ts
  | None => None
  end.

Notation "a <- p ;; q" := (then_ p (fun a rest => q rest)) (at level 61, p at next level, right associativity).

(** The sign is next. *)
Definition after_sign {A : Type} (sign : string) (next : parser A) : parser A := fun ts =>
  match ts with
  | Sign s :: ts' => if String.eqb s sign then next ts' else None
  | _ => None
  end.

Definition result {A : Type} (a : A) : parser A := fun ts => Some (a, ts).

(** [fuel] bounds the depth of the recursion, and is more than there are words. *)
Fixpoint expression (fuel : nat) (ts : list token) : option (term * list token) :=
  match fuel with
  | O => None
  | S fuel =>
      match operation fuel 1 ts with
      | Some (c, Sign s :: ts') =>
          if String.eqb s "?" then
            a <- expression fuel ts' ;; after_sign ":" (fun ts =>
            b <- expression fuel ts ;; result (Value (Select (truth_of c) (value_of a) (value_of b))))
          else Some (c, Sign s :: ts')
      | found => found
      end
  end
with operation (fuel : nat) (level : nat) (ts : list token) : option (term * list token) :=
  match fuel with
  | O => None
  | S fuel => a <- operand fuel ts ;; further fuel level a
  end
(** The operators after [a] that bind at least as strongly as [level]. *)
with further (fuel : nat) (level : nat) (a : term) (ts : list token) : option (term * list token) :=
  match fuel with
  | O => None
  | S fuel =>
      match ts with
      | Sign s :: ts' =>
          match precedence s with
          | Some p =>
              if Nat.leb level p then
                b <- operation fuel (S p) ts' ;; fun rest =>
                match applied s a b with
                | Some c => further fuel level c rest
                | None => None
                end
              else Some (a, ts)
          | None => Some (a, ts)
          end
      | _ => Some (a, ts)
      end
  end
with operand (fuel : nat) (ts : list token) : option (term * list token) :=
  match fuel with
  | O => None
  | S fuel =>
      match ts with
      | Number v _ :: ts' => Some (Value (Int v), ts')
      | Word f :: Sign s :: ts' =>
          if String.eqb s "(" then
            l <- arguments fuel ts' ;; fun rest =>
            match function f l with
            | Some m => Some (m, rest)
            | None => None
            end
          else Some (Value (Var f), Sign s :: ts')
      | Word x :: ts' => Some (Value (Var x), ts')
      | Sign s :: ts' =>
          if String.eqb s "-" then a <- operand fuel ts' ;; result (Value (scaled (-1) (value_of a)))
          else if String.eqb s "!" then a <- operand fuel ts' ;; result (Truth (Not (truth_of a)))
          else if String.eqb s "(" then
            match after_cast ts' with
            | Some rest => a <- operand fuel rest ;; result (Value (Sum [value_of a]))
            | None => a <- expression fuel ts' ;; after_sign ")" (result a)
            end
          else None
      | _ => None
      end
  end
(** What is between the parentheses of a call, and the one that closes it. *)
with arguments (fuel : nat) (ts : list token) : option (list expr * list token) :=
  match fuel with
  | O => None
  | S fuel =>
      match ts with
      | Sign s :: ts' =>
          if String.eqb s ")" then Some ([], ts') else more_arguments fuel ts
      | _ => more_arguments fuel ts
      end
  end
with more_arguments (fuel : nat) (ts : list token) : option (list expr * list token) :=
  match fuel with
  | O => None
  | S fuel =>
      a <- expression fuel ts ;; fun rest =>
      match rest with
      | Sign s :: ts' =>
          if String.eqb s ")" then Some ([value_of a], ts')
          else if String.eqb s "," then l <- more_arguments fuel ts' ;; result (value_of a :: l)
          else None
      | _ => None
      end
  end.

(** ** Statements *)

Definition integers : list string :=
  ["int"; "long"; "short"; "char"; "signed"; "unsigned"; "const"; "size_t"; "ssize_t"; "ptrdiff_t"; "int8_t"; "int16_t"; "int32_t";
   "int64_t"; "uint8_t"; "uint16_t"; "uint32_t"; "uint64_t"].

(** The name of an integer type in front, if it is there. *)
Fixpoint declared (ts : list token) : bool * list token :=
  match ts with
  | Word t :: ((Word _ :: _) as ts') => if existsb (String.eqb t) integers then (true, snd (declared ts')) else (false, ts)
  | _ => (false, ts)
  end.

(** A new name [x], whose first value is [a]: it is declared, or nothing else has its name; and its first
    value does not depend on it. *)
Definition is_new (declares : bool) (bound : list string) (x : string) (a : expr) : bool :=
  (declares || negb (existsb (String.eqb x) bound)) &&
  closed_expr (filter (fun y => negb (String.eqb x y)) bound) a.

(** What a loop adds to its iterator [x]. *)
Definition update (x : string) : parser Z := fun ts =>
  let own y := String.eqb x y in
  let one s := if String.eqb s "++" then Some 1 else if String.eqb s "--" then Some (-1) else None in
  let signed s v := if String.eqb s "+=" then Some v else if String.eqb s "-=" then Some (- v) else None in
  let given step rest := match step with Some k => Some (k, rest) | None => None end in
  match ts with
  | Word y :: Sign s :: Number v _ :: rest => if own y then given (signed s v) rest else None
  | Word y :: Sign s :: Word z :: Sign t :: Number v _ :: rest =>
      if own y && own z && String.eqb s "=" then given (signed (t ++ "=")%string v) rest else None
  | Word y :: Sign s :: rest => if own y then given (one s) rest else None
  | Sign s :: Word y :: rest => if own y then given (one s) rest else None
  | _ => None
  end.

(** Directives that say something of the loop after them. *)
Definition is_pragma (line : string) : bool :=
  match words line with
  | Word a :: _ => String.eqb a "pragma"
  | _ => false
  end.

(** *** Statements of a program in C, which are not looked into *)

Definition letters_of (t : token) : string :=
  match t with
  | Word s | Number _ s | Sign s | Directive s | Unread s => s
  end.

Fixpoint spelled (ts : list token) : string :=
  match ts with
  | [] => ""
  | [t] => letters_of t
  | t :: ts' => (letters_of t ++ " " ++ spelled ts')%string
  end.

Definition controls : list string :=
  ["if"; "else"; "for"; "while"; "do"; "switch"; "case"; "default"; "goto"; "break"; "continue"; "return"].

Definition assigning : list string := ["="; "+="; "-="; "*="; "/="; "%="; "&="; "|="; "^="; "<<"; ">>"; "++"; "--"].

(** What follows these signs. *)
Fixpoint past (sign : string) (ts : list token) : list token :=
  match ts with
  | Sign s :: ts' => if String.eqb s sign then past sign ts' else ts
  | _ => ts
  end.

(** The words assign to one of these names, or take its address, in parentheses or not. *)
Fixpoint assigns (bound : list string) (ts : list token) : bool :=
  let is_bound x := existsb (String.eqb x) bound in
  match ts with
  | [] => false
  | t :: ts' =>
      match t with
      | Word x => is_bound x && match past ")" ts' with Sign s :: _ => existsb (String.eqb s) assigning | _ => false end
      | Sign s => existsb (String.eqb s) ["++"; "--"; "&"] && match past "(" ts' with Word x :: _ => is_bound x | _ => false end
      | _ => false
      end || assigns bound ts'
  end.

(** Up to the semicolon; no block, no directive and nothing that jumps. *)
Fixpoint simple (ts : list token) : option (list token * list token) :=
  match ts with
  | Sign s :: ts' =>
      if String.eqb s ";" then Some ([], ts')
      else if existsb (String.eqb s) ["{"; "}"] then None
      else match simple ts' with Some (l, rest) => Some (Sign s :: l, rest) | None => None end
  | Word w :: ts' =>
      if existsb (String.eqb w) controls then None
      else match simple ts' with Some (l, rest) => Some (Word w :: l, rest) | None => None end
  | (Number _ _ | Unread _) as t :: ts' => match simple ts' with Some (l, rest) => Some (t :: l, rest) | None => None end
  | _ => None
  end.

(** A declaration without a first value does nothing. *)
Definition only_declares (ts : list token) : bool :=
  match ts with
  | Word _ :: Word _ :: _ =>
      forallb (fun t => match t with Sign s => existsb (String.eqb s) [","; "["; "]"; "*"] | Word _ | Number _ _ => true | _ => false end) ts
  | _ => false
  end.

(** Outside of brackets: in a declaration, the words of the type and what is declared. *)
Fixpoint outside (depth : nat) (ts : list token) : list string :=
  match ts with
  | [] => []
  | Sign s :: ts' => outside (if String.eqb s "[" then S depth else if String.eqb s "]" then Nat.pred depth else depth) ts'
  | Word x :: ts' => (match depth with O => [x] | _ => [] end) ++ outside depth ts'
  | _ :: ts' => outside depth ts'
  end.

(** A statement as a call without arguments, named by its words; a declaration must not hide these names. *)
Definition opaque_statement (bound : list string) : parser counted := fun ts =>
  match simple ts with
  | Some (l, rest) =>
      if assigns bound l then None
      else if only_declares l then
        if existsb (fun x => existsb (String.eqb x) bound) (outside 0 l) then None else Some (Sequence [], rest)
      else Some (Calling (spelled l) [] [], rest)
  | None => None
  end.

Definition sequence (l : list counted) : counted :=
  match l with
  | [n] => n
  | _ => Sequence l
  end.

Definition followed (n : counted) (l : list counted) : list counted :=
  match n with
  | Sequence l' => l' ++ l
  | _ => n :: l
  end.

Fixpoint one_statement (opaque : bool) (fuel : nat) (bound : list string) (ts : list token) : option (counted * list token) :=
  match fuel with
  | O => None
  | S fuel =>
      match ts with
      | Sign s :: ts' =>
          if String.eqb s ";" then Some (Sequence [], ts')
          else if String.eqb s "{" then l <- block_items opaque fuel bound ts' ;; after_sign "}" (result (sequence l))
          else if opaque then opaque_statement bound ts else None
      | Directive d :: ts' =>
          if is_pragma d then
            n <- one_statement opaque fuel bound ts' ;; fun rest =>
            match n with
            | Counting _ _ _ _ _ | Remark _ (Counting _ _ _ _ _) => Some (Remark d n, rest)
            | _ => None
            end
          else None
      | Word w :: Sign s :: ts' =>
          if opaque && String.eqb s ":" && negb (existsb (String.eqb w) controls) then one_statement opaque fuel bound ts'
          else if negb (String.eqb s "(") then if opaque then opaque_statement bound ts else None
          else if String.eqb w "if" then
            c <- expression fuel ts' ;; after_sign ")" (fun ts =>
            n <- one_statement opaque fuel bound ts ;; fun rest =>
            match rest with
            | Word v :: ts =>
                if String.eqb v "else" then m <- one_statement opaque fuel bound ts ;; result (Choice (truth_of c) n m)
                else Some (Choice (truth_of c) n (Sequence []), rest)
            | _ => Some (Choice (truth_of c) n (Sequence []), rest)
            end)
          else if String.eqb w "for" then
            let (declares, ts) := declared ts' in
            match ts with
            | Word x :: ts =>
                after_sign "=" (fun ts => a <- expression fuel ts ;; after_sign ";" (fun ts =>
                if is_new declares bound x (value_of a) then
                  c <- match ts with
                       | Sign s :: _ => if String.eqb s ";" then Some (Truth (And []), ts) else expression fuel ts
                       | _ => expression fuel ts
                       end ;; after_sign ";" (fun ts =>
                  k <- update x ts ;; after_sign ")" (fun ts =>
                  n <- one_statement opaque fuel (x :: bound) ts ;; result (Counting x (value_of a) (truth_of c) k n)))
                else None)) ts
            | _ => None
            end
          else if opaque then opaque_statement bound ts
          else l <- arguments fuel ts' ;; after_sign ";" (result (Calling w l []))
      | _ => if opaque then opaque_statement bound ts else None
      end
  end
(** Up to the end of the block: a declaration is for what follows it. *)
with block_items (opaque : bool) (fuel : nat) (bound : list string) (ts : list token) : option (list counted * list token) :=
  match fuel with
  | O => None
  | S fuel =>
      let statement (_ : unit) :=
        n <- one_statement opaque fuel bound ts ;; fun rest => l <- block_items opaque fuel bound rest ;; result (followed n l) in
      match ts, declared ts with
      | [], _ => Some ([], [])
      | Sign s :: _, _ => if String.eqb s "}" then Some ([], ts) else statement tt
      | _, (true, Word x :: Sign s :: ts') =>
          match (if String.eqb s "=" then expression fuel ts' else None) with
          | Some (a, Sign s' :: rest) =>
              if String.eqb s' ";" && is_new true bound x (value_of a) then
                l <- block_items opaque fuel (x :: bound) rest ;; result [Naming x (value_of a) (sequence l)]
              else None
          | _ => statement tt
          end
      | _, _ => statement tt
      end
  end.

(** [opaque]: the statements are those of a program in C; else they are calls. *)
Definition parse (opaque : bool) (names : list string) (text : string) : option counted :=
  let ts := words text in
  match block_items opaque (10 * List.length ts + 10) names ts with
  | Some (l, []) => Some (sequence l)
  | _ => None
  end.
