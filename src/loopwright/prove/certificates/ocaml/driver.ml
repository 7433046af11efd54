(* Reads a problem, and either finds certificates for it or checks those that come with it.

     checker prove [SECONDS [SIZE...]]
                     find certificates, check them, and say how that went; the context allows these sizes
     checker find    the same, and print the certificates
     checker check   check the certificates that follow the problem
     checker show    print the goals
     checker read    print the program of a schedule as a term, as it was read

   A problem is a sequence of words, each constructor followed by its arguments and each list by its length
   first; a name is a word that begins with an apostrophe.  What is checked is what is read here: this file,
   OCaml and the operating system are what has to be trusted beside Coq. *)

open Checker

exception Malformed of Stdlib.String.t

(* -- words -------------------------------------------------------------------------------------------- *)

let text =
  let found = Buffer.create 65536 in
  (try while true do Buffer.add_channel found stdin 1 done with End_of_file -> ());
  Buffer.contents found

let place = ref 0

let word () =
  let blank c = c = ' ' || c = '\n' in
  let size = Stdlib.String.length text in
  while !place < size && blank text.[!place] do incr place done;
  if !place >= size then raise (Malformed "the problem ends too early");
  let start = !place in
  while !place < size && not (blank text.[!place]) do incr place done;
  Stdlib.String.sub text start (!place - start)

let malformed what found = raise (Malformed (Printf.sprintf "%s expected, not %s" what found))

let number () =
  let found = word () in
  match int_of_string_opt found with Some n -> n | None -> malformed "a number" found

let list read =
  let count = number () in
  if count < 0 then malformed "a length" (string_of_int count);
  List.init count (fun _ -> read ())

(* -- terms -------------------------------------------------------------------------------------------- *)

let rec positive n =
  if n <= 0 then malformed "a positive number" (string_of_int n)
  else if n = 1 then XH
  else if n land 1 = 0 then XO (positive (n / 2))
  else XI (positive (n / 2))

(* Decimal, of any length. *)
let integer found =
  let negative = found.[0] = '-' in
  let digit so_far c =
    if c < '0' || c > '9' then malformed "a number" found;
    let d = Char.code c - Char.code '0' in
    Z.add (Z.mul (Zpos (positive 10)) so_far) (if d = 0 then Z0 else Zpos (positive d))
  in
  let digits = if negative then Stdlib.String.sub found 1 (Stdlib.String.length found - 1) else found in
  if digits = "" then malformed "a number" found;
  let size = Seq.fold_left digit Z0 (Stdlib.String.to_seq digits) in
  if negative then Z.opp size else size

let z () = integer (word ())

let positive_number () = match z () with Zpos p -> p | _ -> malformed "a positive number" "another"
let natural () =
  match number () with
  | n when n >= 0 && n < 1_000_000 -> Finder.to_nat n
  | n -> malformed "a small number" (string_of_int n)

let name () =
  let found = word () in
  if found.[0] <> '\'' then malformed "a name" found;
  let size = Stdlib.String.length found in
  let letter c =
    let bit k = (Char.code c lsr k) land 1 = 1 in
    Ascii (bit 0, bit 1, bit 2, bit 3, bit 4, bit 5, bit 6, bit 7)
  in
  let coded k =
    match if k + 2 < size then int_of_string_opt ("0x" ^ Stdlib.String.sub found (k + 1) 2) else None with
    | Some c -> Char.chr c
    | None -> malformed "a name" found
  in
  let rec go k so_far =
    if k < 1 then so_far
    else if k > 2 && found.[k - 2] = '%' then go (k - 3) (String (letter (coded (k - 2)), so_far))
    else go (k - 1) (String (letter found.[k], so_far))
  in
  go (size - 1) EmptyString

let relation = function
  | "==" -> Some EQ | "!=" -> Some NE | "<=" -> Some LE | "<" -> Some LT | ">=" -> Some GE | ">" -> Some GT
  | _ -> None

(* The arguments are read from left to right, one after the other. *)
let rec expr () =
  match word () with
  | "int" -> Int (z ())
  | "var" -> Var (name ())
  | "sum" -> Sum (list expr)
  | "scaled" -> let f = z () in Scaled (f, expr ())
  | "floor" -> let a = expr () in FloorDiv (a, positive_number ())
  | "trunc" -> let a = expr () in TruncDiv (a, positive_number ())
  | "rem" -> let a = expr () in Rem (a, positive_number ())
  | "min" -> Min (list expr)
  | "max" -> Max (list expr)
  | "select" -> let t = test () in let a = expr () in Select (t, a, expr ())
  | found -> malformed "an expression" found

and test () =
  match word () with
  | "and" -> And (list test)
  | "or" -> Or (list test)
  | "not" -> Not (test ())
  | found -> (
    match relation found with
    | Some r -> let a = expr () in Compare (r, a, expr ())
    | None -> malformed "a test" found)

(* A program; steps have either sign. *)
let rec counted () =
  match word () with
  | "call" -> let f = name () in let args = list expr in Calling (f, args, list expr)
  | "block" -> Sequence (list counted)
  | "if" -> let t = test () in let a = counted () in Choice (t, a, counted ())
  | "for" ->
    let x = name () in
    let first = expr () in
    let t = test () in
    let step = z () in
    Counting (x, first, t, step, counted ())
  | "let" -> let x = name () in let a = expr () in Naming (x, a, counted ())
  | "mark" -> let m = name () in Remark (m, counted ())
  | found -> malformed "a program" found

let vector () = list expr

let call () =
  let f = name () in
  let args = vector () in
  ((f, args), vector ())

(* A program as a term, or as its text. *)
let source () =
  match word () with
  | "term" -> Term (counted ())
  | "printed" -> let text = name () in Printed (text, list vector)
  | "region" ->
    let text = name () in
    let marks = list (fun () -> number () <> 0) in
    Region (text, marks, list call)
  | found -> malformed "a program" found

let shape () =
  let shape_name = name () in
  let shape_arguments = list name in
  let shape_hints = list name in
  let shape_domain = test () in
  { shape_name; shape_arguments; shape_hints; shape_domain; shape_time = vector () }

let specification () =
  let sizes = list name in
  let assumption = test () in
  { sizes; assumption; shapes = list shape }

let place_of () = let a = name () in (a, vector ())
let operator () = match word () with
  | "plain" -> None
  | "combined" -> Some (name ())
  | found -> malformed "an operator" found

let use () =
  let may_read = list place_of in
  let may_write = list place_of in
  { may_read; may_write; combined_by = operator () }

let change () =
  let original = specification () in
  let new_times = list vector in
  { original; new_times; uses = list use }

let origin () =
  let origin_statement = name () in
  let origin_arguments = vector () in
  { origin_statement; origin_arguments; origin_write = natural () }

let storage () =
  let temporaries = list name in
  let tags = list vector in
  { temporaries; tags; origins = list (fun () -> list origin) }

let copy () =
  let copied = place_of () in
  let copied_from = place_of () in
  { copied; copied_from; copied_to = place_of () }

let seeing () = match word () with
  | "kept" -> Kept
  | "begun" -> Since_beginning
  | "from" -> Written_by (origin ())
  | found -> malformed "an origin" found

let cases () = list (fun () -> let t = test () in (t, seeing ()))

let stored () =
  let written = specification () in
  let middle_times = list vector in
  let uses_before = list use in
  let uses_after = list use in
  let copying = list shape in
  let copies = list copy in
  let last_times = list vector in
  let replaced_arrays = list name in
  let seen = list (fun () -> list cases) in
  let left = list (fun () -> let a = name () in let subscripts = list name in ((a, subscripts), cases ())) in
  { written; middle_times; uses_before; uses_after; copying; copies; last_times; replaced_arrays; seen; left }

(* -- proposals ---------------------------------------------------------------------------------------- *)

let limit () = match word () with
  | "seen" -> None
  | "until" -> Some (expr ())
  | found -> malformed "a limit" found

let rec guide () =
  match word () with
  | "atcall" -> AtCall
  | "into" -> Into (guide ())
  | "either" -> let g = guide () in Either_way (g, guide ())
  | "along" -> let l = limit () in let k = vector () in Along (l, k, guide ())
  | "around" -> let l = limit () in let k = vector () in Around (l, k, guide ())
  | "crossed" -> let l = limit () in Crossed (l, guide ())
  | "numbered" -> Numbered (list (fun () -> let k = vector () in (k, guide ())))
  | "parted" -> let cuts = list vector in Parted (cuts, list guide)
  | "compared" -> Compared (list guide)
  | found -> malformed "a guide" found

let turn () =
  match word () with
  | "child" -> ToChild (natural ())
  | "iteration" -> ToIteration (expr ())
  | "yes" -> ToYes
  | "no" -> ToNo
  | "inside" -> ToInside
  | found -> malformed "a turn" found

let cover () = list (fun () -> list turn)

let proposal () =
  let order = guide () in
  let covered = list cover in
  { order; covered; ties = list vector }

(* -- certificates --------------------------------------------------------------------------------------- *)

let combination () = list (fun () -> let k = natural () in (k, z ()))

let rec certificate () =
  match word () with
  | "farkas" -> Farkas (combination ())
  | "cut" -> let c = combination () in let d = positive_number () in Cut (c, d, certificate ())
  | "split" ->
    let constant = z () in
    let l = (constant, list z) in
    let up = certificate () in
    Split (l, up, certificate ())
  | "branches" -> let k = natural () in Cases (k, list certificate)
  | found -> malformed "a certificate" found

let decimal a =
  let rec digits a found =
    let q, r = Z.div_eucl a (Zpos (positive 10)) in
    let found = string_of_int (Machine.of_z r) :: found in
    if q = Z0 then found else digits q found
  in
  match a with
  | Zneg p -> "-" ^ Stdlib.String.concat "" (digits (Zpos p) [])
  | Z0 | Zpos _ -> Stdlib.String.concat "" (digits a [])

let rec of_nat = function O -> 0 | S n -> 1 + of_nat n

let rec print_certificate c =
  let out = Printf.printf in
  let combination c =
    out " %d" (List.length c);
    List.iter (fun (k, a) -> out " %d %s" (of_nat k) (decimal a)) c
  in
  match c with
  | Farkas c -> out " farkas"; combination c
  | Cut (c, d, rest) -> out " cut"; combination c; out " %s" (decimal (Zpos d)); print_certificate rest
  | Split ((c, k), up, down) ->
    out " split %s %d" (decimal c) (List.length k);
    List.iter (fun a -> out " %s" (decimal a)) k;
    print_certificate up;
    print_certificate down
  | Cases (k, branches) -> out " branches %d %d" (of_nat k) (List.length branches); List.iter print_certificate branches

(* -- problems --------------------------------------------------------------------------------------------- *)

type problem =
  | Scan of specification * source * proposal
  | Whole of change * source * source * proposal * proposal
  | Private of change * (nat * storage) list * source * source * proposal * proposal
  | Reused of change * storage * source * source * proposal * proposal
  | Stored of stored * source * source * proposal * proposal
  | Divided of stored * division * source * counted * source * proposal * proposal
  | Buffered of stored * layered list * product list * division * source * counted * source * proposal * proposal
  | Range of specification * types * string

let layer () = let k = natural () in (k, storage ())
let rec level () = match word () with
  | "entered" -> Entered (natural ())
  | "parts" -> Parts (list level)
  | found -> malformed "a level" found

let part () = let f = name () in (f, name ())

let product () =
  let x = name () in
  let names = list name in
  (x, (names, list place_of))

let range () = let low = z () in (low, z ())

let problem () =
  match word () with
  | "scan" ->
    let g = specification () in
    let n = source () in
    Scan (g, n, proposal ())
  | "change" ->
    let t = change () in
    let n = source () in
    let n' = source () in
    let how = proposal () in
    Whole (t, n, n', how, proposal ())
  | "private" ->
    let t = change () in
    let s = list layer in
    let n = source () in
    let n' = source () in
    let how = proposal () in
    Private (t, s, n, n', how, proposal ())
  | "reused" ->
    let t = change () in
    let s = storage () in
    let n = source () in
    let n' = source () in
    let how = proposal () in
    Reused (t, s, n, n', how, proposal ())
  | "stored" ->
    let u = stored () in
    let n = source () in
    let n' = source () in
    let how = proposal () in
    Stored (u, n, n', how, proposal ())
  | "divided" ->
    let u = stored () in
    let parts = list part in
    let n = source () in
    let chosen = counted () in
    let n' = source () in
    let how = proposal () in
    Divided (u, parts, n, chosen, n', how, proposal ())
  | "buffered" ->
    let u = stored () in
    let s = list (fun () -> let l = level () in (l, storage ())) in
    let q = list product in
    let parts = list part in
    let n = source () in
    let chosen = counted () in
    let n' = source () in
    let how = proposal () in
    Buffered (u, s, q, parts, n, chosen, n', how, proposal ())
  | "range" ->
    let g = specification () in
    let int = range () in
    let long = range () in
    let kinds = list (fun () -> let x = name () in (x, range ())) in
    Range (g, { int; long; kinds }, name ())
  | found -> malformed "a problem" found

(* A text that is not read has no conditions. *)
let unread () = print_endline "unread"; exit 1

(* The statements of the original, where it is given as a text, and what it was told that they touch. *)
let uses_of p =
  match p with
  | Scan _ | Range _ -> None
  | Whole (t, n, _, _, _) | Private (t, _, n, _, _, _) | Reused (t, _, n, _, _, _) ->
    Some (t.original.sizes, combine t.original.shapes t.uses, n)
  | Stored (u, n, _, _, _) -> Some (u.written.sizes, as_written u, n)
  | Divided (u, _, n, _, _, _, _) | Buffered (u, _, _, _, n, _, _, _, _) ->
    Some (u.written.sizes, everywhere (as_written u), n)

let told_of p =
  match uses_of p with
  | Some (sizes, uses, Region (text, _, calls)) ->
    if not (accounted sizes uses text calls) then (print_endline "forgotten"; exit 1);
    as_told sizes uses text calls
  | _ -> []

let goals_of p =
  let both t p p' goals =
    match both_readable t p p' with
    | Some (n, n') -> goals (lowered n) (lowered n')
    | None -> unread ()
  in
  let stored u p p' how how' =
    match readable u.written.sizes p, readable u.written.sizes p' with
    | Some n, Some n' -> stored_goals u (lowered n) (lowered n') how how'
    | _ -> unread ()
  in
  match p with
  | Scan (g, p, how) -> (match readable g.sizes p with Some n -> goals g (lowered n) how | None -> unread ())
  | Whole (t, p, p', how, how') -> both t p p' (fun n n' -> change_goals t n n' how how')
  | Private (t, s, p, p', how, how') -> both t p p' (fun n n' -> private_goals t s n n' how how')
  | Reused (t, s, p, p', how, how') -> both t p p' (fun n n' -> reused_goals t s n n' how how')
  | Stored (u, p, p', how, how') -> stored u p p' how how'
  | Divided (u, _, _, n, p', how, how') -> stored u (Term n) p' how how'
  | Buffered (u, s, _, _, _, n, p', how, how') ->
    (match readable u.written.sizes p' with
     | Some n' -> buffer_goals u s (lowered n') @ stored (owning_all u s) (Term n) p' how how'
     | None -> unread ())
  | Range (g, t, text) ->
    (match with_subscripts g.sizes text with
     | Some n -> all_range_goals g t n
     | None -> unread ())

let checked p certificates =
  match p with
  | Scan (g, n, how) -> check_text g n how certificates
  | Whole (t, n, n', how, how') -> check_text_change t n n' how how' certificates
  | Private (t, s, n, n', how, how') -> check_text_private t s n n' how how' certificates
  | Reused (t, s, n, n', how, how') -> check_text_reused t s n n' how how' certificates
  | Stored (u, n, n', how, how') -> check_text_stored u n n' how how' certificates
  | Divided (u, parts, n, chosen, n', how, how') -> check_divided u parts n chosen n' how how' certificates
  | Buffered (u, s, q, parts, n, chosen, n', how, how') -> check_buffered u s q parts n chosen n' how how' certificates
  | Range (g, t, text) -> check_range g t text certificates

(* Where no size is allowed, everything is true. *)
let is_allowed p sizes =
  let g =
    match p with
    | Scan (g, _, _) | Range (g, _, _) -> g
    | Whole (t, _, _, _, _) | Private (t, _, _, _, _, _) | Reused (t, _, _, _, _, _) -> t.original
    | Stored (u, _, _, _, _) | Divided (u, _, _, _, _, _, _) | Buffered (u, _, _, _, _, _, _, _, _) -> u.written
  in
  if List.compare_lengths g.sizes sizes <> 0 then malformed "a size for each parameter" "others";
  decide (List.combine g.sizes (List.map integer sizes)) g.assumption

let budget = 20000
let short = 200

(* Processor time at which the search ends. *)
let deadline = ref infinity

(* First a short search; then one after what is excluded by a sum of facts.  Cuts make numbers grow: where
   machine integers do not hold them, a short search with large numbers comes next; then variables that are not
   integers are split instead; then facts with large numbers, such as the range of a type, are left out; then
   numbers are large. *)
let find goal =
  let overflowed = ref false in
  let small ?(rounds = 0) ?(budget = budget) limit cuts () =
    match Finder.search ~rounds limit cuts budget !deadline goal with
    | Finder.Certificate c -> Finder_large.Certificate c
    | Finder.Solution values -> Finder_large.Solution values
    | Finder.Unknown -> Finder_large.Unknown
    | Finder.Left_out | (exception Machine.Overflow) -> overflowed := true; Finder_large.Unknown
  in
  let large ?(budget = budget) cuts () = Finder_large.search None cuts budget !deadline goal in
  let large_if_needed () = if !overflowed then large ~budget:short 30 () else Finder_large.Unknown in
  let next answer search =
    match answer with
    | Finder_large.Unknown when Sys.time () < !deadline -> search ()
    | _ -> answer
  in
  List.fold_left next Finder_large.Unknown
    [ small ~budget:short None 30; large_if_needed; small ~rounds:2 None 30; small None 30; small None 0;
      small (Some (1 lsl 31)) 30; large 30; large 0 ]

let most_earlier = 10
let earlier : (int, certificate list) Hashtbl.t = Hashtbl.create 64

(* The copies of an unrolled body have goals that differ in numbers alone: of goals with as many facts, the
   certificates that were found last are tried first. *)
let find goal =
  let size = List.length goal in
  let before = Option.value (Hashtbl.find_opt earlier size) ~default:[] in
  let remember c = Hashtbl.replace earlier size (c :: List.filteri (fun k d -> k < most_earlier && d != c) before) in
  let found =
    match List.find_opt (fun c -> refutes c goal) before with
    | Some c -> Finder_large.Certificate c
    | None -> find goal
  in
  (match found with Finder_large.Certificate c -> remember c | _ -> ());
  found

let certificates p =
  List.mapi
    (fun k goal ->
      match find goal with
      | Finder_large.Certificate c -> c
      | Finder_large.Solution values ->
        Printf.printf "open %d solution" k;
        List.iter (fun a -> Printf.printf " %s" (decimal a)) values;
        print_newline ();
        exit 1
      | Finder_large.Unknown | Finder_large.Left_out -> Printf.printf "open %d unknown\n" k; exit 1)
    (goals_of p)

let rec show f =
  let linear (c, k) =
    let signed a = (match a with Zneg _ -> "" | Z0 | Zpos _ -> "+") ^ decimal a in
    let one j a = if a = Z0 then None else Some (Printf.sprintf "%s x%d" (signed a) j) in
    Stdlib.String.concat " " (List.filter_map Fun.id (List.mapi one k) @ [ signed c ])
  in
  let several sign fs = "(" ^ Stdlib.String.concat sign (List.map show fs) ^ ")" in
  match f with
  | Above l -> linear l ^ " >= 0"
  | Zero l -> linear l ^ " = 0"
  | Both fs -> several " and " fs
  | Either fs -> several " or " fs

(* A name as a word. *)
let letters s =
  let bit b k = if b then 1 lsl k else 0 in
  let rec go s =
    match s with
    | EmptyString -> []
    | String (Ascii (a, b, c, d, e, f, g, h), rest) ->
      let code = bit a 0 + bit b 1 + bit c 2 + bit d 3 + bit e 4 + bit f 5 + bit g 6 + bit h 7 in
      Printf.sprintf "%%%02X" code :: go rest
  in
  [ "'" ^ Stdlib.String.concat "" (go s) ]

(* A program in the words in which it is read. *)
let rec words_of n =
  let several f l = string_of_int (List.length l) :: List.concat_map f l in
  let rec expr a =
    match a with
    | Int v -> [ "int"; decimal v ]
    | Var x -> "var" :: letters x
    | Sum l -> "sum" :: several expr l
    | Scaled (k, a) -> "scaled" :: decimal k :: expr a
    | FloorDiv (a, d) -> ("floor" :: expr a) @ [ decimal (Zpos d) ]
    | TruncDiv (a, d) -> ("trunc" :: expr a) @ [ decimal (Zpos d) ]
    | Rem (a, d) -> ("rem" :: expr a) @ [ decimal (Zpos d) ]
    | Min l -> "min" :: several expr l
    | Max l -> "max" :: several expr l
    | Select (t, a, b) -> ("select" :: test t) @ expr a @ expr b
  and test t =
    match t with
    | Compare (r, a, b) ->
      let sign = match r with EQ -> "==" | NE -> "!=" | LE -> "<=" | LT -> "<" | GE -> ">=" | GT -> ">" in
      (sign :: expr a) @ expr b
    | And l -> "and" :: several test l
    | Or l -> "or" :: several test l
    | Not t -> "not" :: test t
  in
  match n with
  | Calling (f, args, hint) -> ("call" :: letters f) @ several expr args @ several expr hint
  | Sequence l -> "block" :: several words_of l
  | Choice (t, a, b) -> ("if" :: test t) @ words_of a @ words_of b
  | Counting (x, a, t, k, b) -> ("for" :: letters x) @ expr a @ test t @ (decimal k :: words_of b)
  | Naming (x, a, b) -> ("let" :: letters x) @ expr a @ words_of b
  | Remark (text, b) -> ("mark" :: letters text) @ words_of b

let answer ?(told = []) good count =
  if good then print_endline (Stdlib.String.concat " " ("accepted" :: string_of_int count :: told)) else print_endline "refused";
  exit (if good then 0 else 1)

(* Conditions may be too many to hold, or take longer to compute than certificates may. *)
let most_words = 1 lsl 28
let give_up_when_spent () =
  if (Gc.quick_stat ()).Gc.heap_words > most_words || Sys.time () > (2. *. !deadline) +. 1. then begin
    print_endline "spent";
    exit 1
  end

let () =
  ignore (Gc.create_alarm give_up_when_spent);
  Gc.set { (Gc.get ()) with Gc.minor_heap_size = 1 lsl 19; Gc.space_overhead = 400 };
  try
    let p = problem () in
    if Array.length Sys.argv > 2 then deadline := float_of_string Sys.argv.(2);
    match Array.sub Sys.argv 0 (min 2 (Array.length Sys.argv)) with
    | [| _; "prove" |] ->
      let told = List.concat_map letters (told_of p) in
      let found = certificates p in
      let good = checked p found in
      if good && Array.length Sys.argv > 3 && not (is_allowed p (List.tl (List.tl (List.tl (Array.to_list Sys.argv))))) then
        (print_endline "nothing"; exit 1);
      answer ~told good (List.length found)
    | [| _; "find" |] ->
      ignore (told_of p);
      let found = certificates p in
      print_string (string_of_int (List.length found));
      List.iter print_certificate found;
      print_newline ()
    | [| _; "check" |] ->
      let given = list certificate in
      answer (checked p given) (List.length given)
    | [| _; "show" |] ->
      List.iteri (fun k goal -> Printf.printf "goal %d\n" k; List.iter (fun f -> print_endline ("  " ^ show f)) goal) (goals_of p)
    | [| _; "read" |] ->
      (match p with
       | Scan (g, p, _) ->
         (match readable g.sizes p with
          | Some n -> print_endline (Stdlib.String.concat " " (words_of n))
          | None -> unread ())
       | _ -> malformed "a schedule" "another problem")
    | _ -> prerr_endline "usage: checker prove|find|check|show|read [SECONDS] < problem"; exit 2
  with
  | Malformed what -> Printf.printf "malformed %s\n" what; exit 2
