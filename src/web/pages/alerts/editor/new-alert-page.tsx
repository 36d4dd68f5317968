import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { listFormsOptions } from '#client/@tanstack/react-query.gen'
import { STALE_MS } from '../../../api/queries.ts'
import { QueryState } from '../../../components/query-state.tsx'
import { useSearchParams } from '../../../url-state/use-search-params.ts'
import { NEW_ALERT } from '../queries.ts'
import { type Draft, withEvent, withVendor } from './draft.ts'
import { Editor } from './editor.tsx'
import { draftFromTemplate } from './template-draft.ts'

/** `/alerts/new`: creates an alert. */
export function NewAlertPage() {
  const [{ domainId, vendor, event, parameter, template }] = useSearchParams(NEW_ALERT)
  // A suggested rule is stored in the history entry, so a reload does not discard it.
  const { rule } = useLocation({ select: ({ state }) => state as { rule?: Draft } })
  const query = useQuery({ ...listFormsOptions(), staleTime: STALE_MS.dictionary })
  const [initial] = useState((): Draft => {
    return rule ?? draftFromTemplate(template, { domainId, parameter })
  })
  return (
    <QueryState query={query}>
      {(forms) => {
        const form = forms.alertTypes.find(({ kind }) => kind === initial.alertType)
        const withName = vendor ? withVendor(initial, form, vendor) : initial
        return <Editor forms={forms} initial={event ? withEvent(withName, form, event) : withName} saved={null} />
      }}
    </QueryState>
  )
}
