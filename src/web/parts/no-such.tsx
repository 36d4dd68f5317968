import type { ReactNode } from 'react'
import { PageHead } from './page-head.tsx'
import { Gone } from './query-state.tsx'

/** The page of a thing that is not there: what it is that is not, and the link to the list. */
export function NoSuch({ sentence, children }: { sentence: string; children: ReactNode }) {
  return (
    <>
      <PageHead title={sentence} />
      <Gone sentence={sentence}>{children}</Gone>
    </>
  )
}
