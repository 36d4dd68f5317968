import { createRootRoute } from '@tanstack/react-router'
import { ApiError } from '../api/api-error.ts'
import { messages } from '../messages.ts'
import { AuthGate } from './auth-gate.tsx'
import { NotFound, PageError } from './error-pages.tsx'

/** What every page stands in. */
export const root = createRootRoute({ component: AuthGate, notFoundComponent: NotFound, errorComponent: PageError })

/** The beginning of each page's route. */
export const underRoot = { getParentRoute: () => root }

/** The pages of a room, whose code is loaded when one of them is shown first. */
export const lazyPages =
  <Pages>(load: () => Promise<Pages>) =>
  (): Promise<Pages> =>
    load().catch(sayWhy)

/** The router takes code that can't be had for that of an older server, and loads the document anew: not where there is none. */
async function sayWhy(error: unknown): Promise<never> {
  await fetch('/', { method: 'HEAD' }).catch(() => {
    throw new ApiError(messages.shell.unreachable, 0, null)
  })
  throw error
}
