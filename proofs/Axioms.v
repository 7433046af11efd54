(** The theorems of the library, each with the axioms it rests on: none. *)
From Loopwright Require Import Tactics Evaluator Executed Scanning.
Print Assumptions runs_deterministic.
Print Assumptions evaluate_sound.
Print Assumptions evaluate_complete.
Print Assumptions run_lists_executed.
Print Assumptions trace_is_a_permutation.
Print Assumptions scanning.
Print Assumptions scanning_complete.
Print Assumptions scanning_for_all_parameters.
Print Assumptions reordering.
Print Assumptions legal_same_memory.
Print Assumptions transformation_correct.
Print Assumptions regular_runs.
Print Assumptions reached_executes.
Print Assumptions ordered_pairs.
Print Assumptions obligations_scan.
Print Assumptions program_correct.
Print Assumptions decide_holds.
Print Assumptions order_loop.
Print Assumptions order_block.
Print Assumptions legal_by_pairs.
Print Assumptions times_differ.
Print Assumptions leads_reached.
Print Assumptions each_call_reached.
Print Assumptions placed_ordered.
Print Assumptions legal_by_outlines.
