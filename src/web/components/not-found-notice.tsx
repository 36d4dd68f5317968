import type { ReactNode } from 'react'
import { PageHeader } from './page-header.tsx'
import { MissingNotice } from './query-state.tsx'

/** The page of a thing that is not there: what it is that is not, and the link to the list. */
export function NotFoundNotice({ sentence, children }: { sentence: string; children: ReactNode }) {
  return (
    <>
      <PageHeader title={sentence} />
      <MissingNotice sentence={sentence}>{children}</MissingNotice>
    </>
  )
}
