import { type RefObject, useRef } from 'react'
import { createAlert, replaceAlert } from '#client/sdk.gen'
import type { Alert, Form } from '#client/types.gen'
import { invalidate } from '../../../api/queries.ts'
import { useSubmit } from '../../../components/form.tsx'
import { useNavigateIfMounted } from '../../../components/use-is-mounted.ts'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { toInput } from './convert-alert-draft.ts'
import { type Draft, suggestedName } from './draft.ts'

export interface Saving {
  /** Saves the alert and opens the list. */
  save(enabled: boolean): void
  isSending: boolean
  errorOf(path: string): string | undefined
  /** The server's error message if it concerns no visible field. */
  refusal: string | null
  /** True while leaving would lose changes. */
  mayLose(): boolean
  /** Discards unsaved changes, so that leaving needs no confirmation. */
  forget(): void
}

interface SavingOptions {
  draft: Draft
  form: Form | undefined
  saved: Alert | null
  /** Paths of the fields that show errors. */
  paths: readonly string[]
  /** True while the entered JSON is invalid, which prevents saving. */
  isBroken: boolean
  /** The initial draft. */
  initial: Draft
  element: RefObject<HTMLFormElement | null>
}

/** Saves an alert and returns to the list. Errors are shown at the fields that they concern. */
export function useSaving({ draft, form, saved, paths, isBroken, initial, element }: SavingOptions): Saving {
  const goOn = useNavigateIfMounted()
  const isOn = useRef(true)
  const isDone = useRef(false)
  const sending = useSubmit(paths, async () => {
    const enabled = isOn.current
    const name = draft.name || suggestedName(draft, form, operatorLabel)
    const body = { ...toInput(draft), name, enabled }
    if (saved) await replaceAlert({ path: { id: saved.id }, body })
    else await createAlert({ body })
    isDone.current = true
    void invalidate('listAlerts', 'getAlert', 'listSuggestions')
    notices.say(enabled ? messages.alert.savedEnabled(name) : messages.alert.savedDisabled(name))
    await goOn({ to: '/alerts' })
  })
  return {
    save(enabled) {
      if (isBroken) {
        element.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
        return
      }
      isOn.current = enabled
      sending.submit({ preventDefault() {}, currentTarget: element.current } as never)
    },
    isSending: sending.isSending,
    errorOf: sending.errorOf,
    refusal: sending.refusal,
    mayLose: () => !isDone.current && (isBroken || !isSame(draft, initial)),
    forget() {
      isDone.current = true
    },
  }
}

const isSame = (one: Draft, other: Draft) =>
  one === other || JSON.stringify(toInput(one)) === JSON.stringify(toInput(other))

export const operatorLabel = (op: string): string => messages.forms.values[op] ?? op.replaceAll('_', ' ')
