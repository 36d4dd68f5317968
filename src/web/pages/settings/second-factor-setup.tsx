import { Text, TextInput } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { generate } from 'lean-qr'
import { useEffect } from 'react'
import { beginSecondFactor, confirmSecondFactor } from '#client/sdk.gen'
import type { NewSecondFactor } from '#client/types.gen'
import { invalidate } from '../../api/queries.ts'
import { Data } from '../../components/data-text.tsx'
import { Form } from '../../components/form.tsx'
import { useFormFields } from '../../components/use-form-fields.ts'
import { messages } from '../../messages.ts'
import { notices } from '../../state/notices.ts'
import { AppCodeInput, RecoveryCodes } from './recovery-codes.tsx'

/** Shows a new secret and its recovery codes, and enables the second factor with a first code. */
export function SecondFactorSetup({ close }: { close(): void }) {
  const { mutate, data, error } = useMutation({
    mutationFn: async () => (await beginSecondFactor()).data,
  })
  useEffect(() => mutate(), [mutate])
  if (error) {
    return (
      <Text role="alert">
        <Data>{error.message}</Data>
      </Text>
    )
  }
  return data ? <FirstCode made={data} close={close} /> : <div aria-busy="true" />
}

function FirstCode({ made, close }: { made: NewSecondFactor; close(): void }) {
  const t = messages.settings.secondFactor
  const { field, sending } = useFormFields({ code: '' }, async (body) => {
    await confirmSecondFactor({ body })
    await Promise.all(['getSecondFactor', 'listSessions', 'whoami'].map((id) => invalidate(id as 'whoami')))
    notices.say(t.enabled)
    close()
  })
  return (
    <Form submission={sending} button={t.enable}>
      <Text>{t.scan}</Text>
      <QrCode text={made.uri} label={t.qrCode} />
      <TextInput label={t.secret} description={t.secretHint} value={made.secret} readOnly translate="no" />
      <RecoveryCodes codes={made.recoveryCodes} />
      <AppCodeInput field={field('code')} />
    </Form>
  )
}

/** Width of the empty border that readers of QR codes need, in modules. */
const QUIET = 4

/** A QR code. It is black on white in both themes, because some readers need that. */
function QrCode({ text, label }: { text: string; label: string }) {
  const code = generate(text)
  const modules: string[] = []
  for (let y = 0; y < code.size; y++) {
    for (let x = 0; x < code.size; x++) if (code.get(x, y)) modules.push(`M${x + QUIET} ${y + QUIET}h1v1h-1z`)
  }
  const size = code.size + 2 * QUIET
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      width={208}
      height={208}
      shapeRendering="crispEdges"
    >
      <rect width={size} height={size} fill="white" />
      <path d={modules.join('')} fill="black" />
    </svg>
  )
}
