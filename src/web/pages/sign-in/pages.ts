import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { lazyView, page } from '../page.ts'

const paths = PAGE_PATHS['sign-in']

export const signInPages = [
  page({
    path: paths.setup,
    isPublic: true,
    view: lazyView(() => import('./setup-and-invite-pages.tsx'), 'SetUpPage'),
  }),
  page({
    path: paths.invite,
    isPublic: true,
    view: lazyView(() => import('./setup-and-invite-pages.tsx'), 'InvitePage'),
  }),
  page({ path: paths.reset, isPublic: true, view: lazyView(() => import('./password-reset-page.tsx'), 'ResetPage') }),
] as const
