import { createRootRoute } from '@tanstack/react-router'
import { ApiError } from '../api/api-error.ts'
import { messages } from '../messages.ts'
import { AuthGate } from './auth-gate.tsx'
import { NotFound, PageError } from './error-pages.tsx'

/** The root of all routes. */
export const root = createRootRoute({ component: AuthGate, notFoundComponent: NotFound, errorComponent: PageError })

/** Options shared by the routes of all pages. */
export const underRoot = { getParentRoute: () => root }

/** Loads the pages of a folder when one of them is first opened. */
export const lazyPages =
  <Pages>(load: () => Promise<Pages>) =>
  (): Promise<Pages> =>
    load().catch(sayWhy)

/** Prevents the router from reloading the document while the server is unreachable. */
async function sayWhy(error: unknown): Promise<never> {
  await fetch('/', { method: 'HEAD' }).catch(() => {
    throw new ApiError(messages.shell.unreachable, 0, null)
  })
  throw error
}
