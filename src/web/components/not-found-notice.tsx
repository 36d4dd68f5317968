import type { ReactNode } from 'react'
import { PageHeader } from './page-header.tsx'
import { MissingNotice } from './query-state.tsx'

/** Page for a missing resource, with a link to the list. */
export function NotFoundNotice({ sentence, children }: { sentence: string; children: ReactNode }) {
  return (
    <>
      <PageHeader title={sentence} />
      <MissingNotice sentence={sentence} isHeading>
        {children}
      </MissingNotice>
    </>
  )
}
