import { createRootRoute } from '@tanstack/react-router'
import { Refusal } from '../api/refusal.ts'
import { messages } from '../messages.ts'
import { Failed, NotFound } from './faults.tsx'
import { Gate } from './gate.tsx'

/** What every page stands in. */
export const root = createRootRoute({ component: Gate, notFoundComponent: NotFound, errorComponent: Failed })

/** The beginning of each page's route. */
export const at = { getParentRoute: () => root }

/** The pages of a room, whose code is loaded when one of them is shown first. */
export const room =
  <Pages>(load: () => Promise<Pages>) =>
  (): Promise<Pages> =>
    load().catch(sayWhy)

/** The router takes code that can't be had for that of an older server, and loads the document anew: not where there is none. */
async function sayWhy(error: unknown): Promise<never> {
  await fetch('/', { method: 'HEAD' }).catch(() => {
    throw new Refusal(messages.shell.unreachable, 0, null)
  })
  throw error
}
