import { Link } from '@tanstack/react-router';
import { EmptyState } from '../components/empty-state.tsx';

export function NotFoundPage() {
  return (
    <EmptyState
      title="This address has no page"
      action={
        <Link to="/" className="text-accent hover:underline">
          Open your workspace
        </Link>
      }
    >
      The address may be mistyped, or what it named was removed.
    </EmptyState>
  );
}
