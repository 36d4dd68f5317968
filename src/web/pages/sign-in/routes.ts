import { createRoute, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { at, room } from '../../shell/root.ts'

const pages = room(() => import('./pages.ts'))

export const signInRoutes = [
  createRoute({
    ...at,
    path: '/setup',
    component: lazyRouteComponent(pages, 'SetUpPage'),
  }),
  createRoute({
    ...at,
    path: '/invite',
    component: lazyRouteComponent(pages, 'InvitePage'),
  }),
  createRoute({
    ...at,
    path: '/reset',
    component: lazyRouteComponent(pages, 'ResetPage'),
  }),
  createRoute({
    ...at,
    path: '/login',
    beforeLoad: () => {
      throw redirect({ to: '/', replace: true })
    },
  }),
] as const
