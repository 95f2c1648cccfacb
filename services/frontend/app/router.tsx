import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router';

const root = createRootRoute();

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/connect' });
  },
});

const connect = createRoute({
  getParentRoute: () => root,
  path: '/connect',
  component: lazyRouteComponent(() => import('../pages/connect-page.tsx'), 'ConnectPage'),
});

export const router = createRouter({ routeTree: root.addChildren([start, connect]), defaultPreload: 'intent' });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
