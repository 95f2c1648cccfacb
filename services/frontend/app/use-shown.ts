import { type RegisteredRouter, type RouteById, type RouteIds, useNavigate, useSearch } from '@tanstack/react-router';

type Tree = RegisteredRouter['routeTree'];
type Shown<From extends RouteIds<Tree>> = RouteById<Tree, From>['types']['fullSearchSchema'];

/** What the address says is open on a page, and a function that changes a part of it. */
export function useShown<const From extends RouteIds<Tree>>(from: From) {
  const shown = useSearch({ from });
  const navigate = useNavigate();
  const show = (change: Shown<From>, replace = false) =>
    void navigate({ to: '.', search: (before) => ({ ...before, ...change }), replace });
  return [shown, show] as const;
}
