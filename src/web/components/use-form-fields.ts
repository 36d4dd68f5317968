import { useForm } from '@mantine/form'
import { useSubmit } from './form.tsx'

/** What `useFormFields` returns. */
export type Fields<Values extends object> = ReturnType<typeof useFormFields<Values>>

/**
 * The values of a form whose fields are named as those of the request that it sends. `act` sends them; what the server
 * refuses stands at the field that its sentence names.
 */
export function useFormFields<Values extends object>(initialValues: Values, act: (values: Values) => Promise<unknown>) {
  const { values, getValues, setValues, getInputProps } = useForm<Values>({ initialValues })
  const sending = useSubmit(Object.keys(initialValues), () => act(getValues()))
  type Name = keyof Values & string
  return {
    values,
    /** Changes some of them: these, or what a function of the values says. */
    set: setValues,
    sending,
    /** What a field needs, whether a text, a number, one of some values or several. */
    field: <N extends Name>(name: N) => ({
      ...getInputProps(name),
      ...{ value: values[name], error: sending.errorOf(name) },
    }),
    /** What a switch or a box needs. */
    check: (name: Name) => ({ ...getInputProps(name, { type: 'checkbox' }), error: sending.errorOf(name) }),
  }
}
