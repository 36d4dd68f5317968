import { useQuery } from '@tanstack/react-query'
import { useLocation } from '@tanstack/react-router'
import { useState } from 'react'
import { listFormsOptions } from '#client/@tanstack/react-query.gen'
import { useValues } from '../../../address/use-search.ts'
import { FRESH } from '../../../api/queries.ts'
import { QueryState } from '../../../parts/query-state.tsx'
import { NEW_ALERT } from '../queries.ts'
import { type Draft, withEvent, withVendor } from './draft.ts'
import { draftOf } from './draft-input.ts'
import { Editor } from './editor.tsx'
import { draftFrom } from './template-draft.ts'

/** `/alerts/new`: creates an alert. */
export function NewAlertPage() {
  const [{ domainId, vendor, event, parameter, template }] = useValues(NEW_ALERT)
  // A suggested rule is in the history entry, so that it survives a reload.
  const { rule } = useLocation({ select: ({ state }) => state as { rule?: object } })
  const query = useQuery({ ...listFormsOptions(), staleTime: FRESH.dictionary })
  const [begun] = useState((): Draft => {
    if (rule) return draftOf({ ...rule })
    return draftFrom(template, { domainId, parameter })
  })
  return (
    <QueryState query={query}>
      {(forms) => {
        const form = forms.alertTypes.find(({ kind }) => kind === begun.alertType)
        const withName = vendor ? withVendor(begun, form, vendor) : begun
        return <Editor forms={forms} begun={event ? withEvent(withName, form, event) : withName} saved={null} />
      }}
    </QueryState>
  )
}
