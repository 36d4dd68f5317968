import { createContext, useContext } from 'react'
import type { Arrival } from './arrive.ts'

export const ArrivalContext = createContext<Arrival>({ setUp: null, invite: null, reset: null, failure: null })

/** What the address brought when the page was opened. */
export const useArrival = (): Arrival => useContext(ArrivalContext)
