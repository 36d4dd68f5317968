import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { lazyPages, underRoot } from '../../shell/root-route.ts'

const pages = lazyPages(() => import('./pages.ts'))

export const signInRoutes = [
  createRoute({
    ...underRoot,
    path: '/setup',
    component: lazyRouteComponent(pages, 'SetUpPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/invite',
    component: lazyRouteComponent(pages, 'InvitePage'),
  }),
  createRoute({
    ...underRoot,
    path: '/reset',
    component: lazyRouteComponent(pages, 'ResetPage'),
  }),
  createRoute({
    ...underRoot,
    path: '/login',
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true })
    },
  }),
] as const
