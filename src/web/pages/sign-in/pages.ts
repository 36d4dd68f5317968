import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { lazyViews, page } from '../page.ts'

const paths = PAGE_PATHS['sign-in']
const view = lazyViews(() => import('./views.ts'))

export const signInPages = [
  page({ path: paths.setup, isPublic: true, view: view('SetUpPage') }),
  page({ path: paths.invite, isPublic: true, view: view('InvitePage') }),
  page({ path: paths.reset, isPublic: true, view: view('ResetPage') }),
] as const
