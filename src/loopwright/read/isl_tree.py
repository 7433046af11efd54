"""Reads isl's schedule trees in YAML (`.st`; [Grosser2015, section 6.1]), with all node types of isl."""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl

from loopwright.model import schedule as trees
from loopwright.presburger.sets import OUT, maps_of, sets_of, union_map
from loopwright.read.isl_flat import is_loop_option, tuple_name
from loopwright.read.isl_text import check_tree_text, explain, node_error, option_error
from loopwright.read.text import checked
from loopwright.source import Source

Kind = isl.schedule_node_type

LOOP_TYPE = {
    isl.ast_loop_type.default: trees.LoopType.DEFAULT,
    isl.ast_loop_type.atomic: trees.LoopType.ATOMIC,
    isl.ast_loop_type.separate: trees.LoopType.SEPARATE,
    isl.ast_loop_type.unroll: trees.LoopType.UNROLL,
}


def parse(text: str, filename: str) -> trees.Schedule:
    """The schedule that a `.st` file describes."""
    source = checked(Source(filename, text))
    check_tree_text(source)
    try:
        schedule = isl.Schedule.read_from_str(isl.DEFAULT_CONTEXT, text)
    except isl.Error as error:
        raise explain(source, error) from None
    _check(source, schedule.get_root())
    return from_isl(schedule)


def _check(source: Source, root: isl.ScheduleNode) -> None:
    """Refuse trees that isl reads but loses instances or options of: see the three checks below."""
    bands = 0
    for node in _nodes(root):
        match Kind(node.get_type()):
            case Kind.band:
                _check_options(source, node)
                _check_covered(source, node, bands)
                bands += 1
            case Kind.sequence | Kind.set:
                _check_filters(source, node)


def _check_options(source: Source, node: isl.ScheduleNode) -> None:
    """Refuse options of the band `node` that are not isl's own, or do not fit the band.

    They are `atomic[d]`, `separate[d]`, `unroll[d]`, the same after `isolate[] ->`, and
    `isolate[[outer dimensions] -> [the band's]]`.  isl silently ignores any other.
    """
    for option in sets_of(node.band_get_ast_build_options()):
        _check_option(source, node, option.get_space())


def _check_option(source: Source, node: isl.ScheduleNode, space: isl.Space) -> None:
    name = tuple_name(space)
    if not space.is_wrapping():
        if not is_loop_option(space):
            raise option_error(source, name, f"unknown option {space}")
        return
    inner = space.unwrap()
    if name == "isolate":
        wanted = node.get_schedule_depth(), node.band_n_member()
        if (inner.dim(isl.dim_type.in_), inner.dim(isl.dim_type.out)) != wanted:
            message = f"isolate has {_counted(inner)} here, not {wanted[0]} outer and {wanted[1]} inner"
            raise option_error(source, name, message)
    elif tuple_name(inner.domain()) != "isolate" or not is_loop_option(inner.range()):
        raise option_error(source, name or tuple_name(inner.range()), f"unknown option {space}")


def _counted(space: isl.Space) -> str:
    return f"{space.dim(isl.dim_type.in_)} outer and {space.dim(isl.dim_type.out)} inner dimensions"


def _nodes(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """The nodes from the root down, in source order, without leaves."""
    if Kind(node.get_type()) == Kind.leaf:
        return
    yield node
    for k in range(node.n_children()):
        yield from _nodes(node.child(k))


def _check_filters(source: Source, node: isl.ScheduleNode) -> None:
    for k in range(node.n_children()):
        if Kind(node.child(k).get_type()) != Kind.filter:
            hint = 'write - filter: "{ S[i] }" and put the rest in its child'
            raise node_error(source, ("sequence", "set"), "a child that is not a filter", hint)


def _check_covered(source: Source, node: isl.ScheduleNode, number: int) -> None:
    """Raise unless every instance that reaches a band has a place in it; isl would drop the others."""
    if node.band_n_member() == 0 or _below_extension(node):
        return
    lost = node.get_domain().subtract(node.band_get_partial_schedule_union_map().domain())
    if not lost.is_empty():
        hint = "give them a time in the schedule, or remove them with a filter"
        message = f"the schedule gives no time to {lost.coalesce()}"
        raise node_error(source, ("schedule",), message, hint, number)


def _below_extension(node: isl.ScheduleNode) -> bool:
    """Whether an ancestor is an extension: isl does not tell which instances reach such a node."""
    while node.has_parent():
        node = node.parent()
        if Kind(node.get_type()) == Kind.extension:
            return True
    return False


def from_isl(schedule: isl.Schedule) -> trees.Schedule:
    """isl's schedule as ours: context nodes at the very top become the schedule's context."""
    root = schedule.get_root()
    if Kind(root.get_type()) == Kind.extension:
        empty = isl.UnionSet.empty(root.extension_get_extension().get_space())
        return trees.Schedule(empty, isl.Set.universe(empty.get_space().params()), _tree(root))
    domain = root.domain_get_domain()
    context = isl.Set.universe(domain.get_space().params())
    node = root.child(0)
    while Kind(node.get_type()) == Kind.context:
        context = context.intersect(node.context_get_context().params())
        node = node.child(0)
    return trees.Schedule(domain, context, _tree(node))


def _tree(node: isl.ScheduleNode) -> trees.Tree:
    match Kind(node.get_type()):
        case Kind.leaf:
            return trees.LEAF
        case Kind.band:
            return _band(node)
        case Kind.sequence:
            return trees.Sequence(_filters(node))
        case Kind.set:
            return trees.AnyOrder(_filters(node))
        case Kind.filter:
            return _filter(node)
        case Kind.context:
            return trees.Context(node.context_get_context(), _tree(node.child(0)))
        case Kind.guard:
            return trees.Guard(node.guard_get_guard(), _tree(node.child(0)))
        case Kind.mark:
            return trees.Mark(node.mark_get_id().get_name(), _tree(node.child(0)))
        case Kind.extension:
            return trees.Extension(node.extension_get_extension(), _tree(node.child(0)))
        case Kind.expansion:
            return trees.Expansion(node.expansion_get_expansion(), _tree(node.child(0)))
        case kind:
            raise AssertionError(f"isl has no schedule node of kind {kind} below the root")


def _filters(node: isl.ScheduleNode) -> tuple[trees.Filter, ...]:
    return tuple(_filter(node.child(k)) for k in range(node.n_children()))


def _filter(node: isl.ScheduleNode) -> trees.Filter:
    return trees.Filter(node.filter_get_filter(), _tree(node.child(0)))


def _band(node: isl.ScheduleNode) -> trees.Tree:
    """The band; one without members orders nothing and is dropped."""
    child = _tree(node.child(0))
    count = node.band_n_member()
    if count == 0:
        return child
    return trees.Band(
        _unnamed(node.band_get_partial_schedule_union_map()),
        tuple(_member(node, k) for k in range(count)),
        child,
        permutable=bool(node.band_get_permutable()),
        isolate=_isolate(node),
    )


def _member(node: isl.ScheduleNode, k: int) -> trees.Member:
    return trees.Member(
        LOOP_TYPE[isl.ast_loop_type(node.band_member_get_ast_loop_type(k))],
        LOOP_TYPE[isl.ast_loop_type(node.band_member_get_isolate_ast_loop_type(k))],
        bool(node.band_member_get_coincident(k)),
    )


def _isolate(node: isl.ScheduleNode) -> isl.Map | None:
    """The option `isolate[[outer] -> [band]]` as a map, or None if nothing is isolated."""
    isolated = node.band_get_ast_isolate_option().unwrap()
    if isolated.is_empty():
        return None
    return isolated.reset_tuple_id(isl.dim_type.in_).reset_tuple_id(isl.dim_type.out)


def _unnamed(schedule: isl.UnionMap) -> isl.UnionMap:
    """A partial schedule without the name of its space, as our bands have none."""
    return union_map((one.reset_tuple_id(OUT) for one in maps_of(schedule)), schedule.get_space())
