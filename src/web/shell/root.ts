import { createRootRoute } from '@tanstack/react-router'
import { Failed, NotFound } from './faults.tsx'
import { Gate } from './gate.tsx'

/** What every page stands in. */
export const root = createRootRoute({ component: Gate, notFoundComponent: NotFound, errorComponent: Failed })

/** The beginning of each page's route. */
export const at = { getParentRoute: () => root }
