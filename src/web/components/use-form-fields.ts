import { useForm } from '@mantine/form'
import { useSubmit } from './form.tsx'

export type Fields<Values extends object> = ReturnType<typeof useFormFields<Values>>

/**
 * State of a form whose fields have the same names as the fields of the request. `act` sends the values. Errors are
 * shown at the fields that they concern. `pathsOf` returns the paths of nested fields that show their own errors, such
 * as `channels[0].target`, the deepest first.
 */
export function useFormFields<Values extends object>(
  initialValues: Values,
  act: (values: Values) => Promise<unknown>,
  pathsOf: (values: Values) => readonly string[] = () => [],
) {
  const { values, getValues, setValues, getInputProps } = useForm<Values>({ initialValues })
  const sending = useSubmit([...pathsOf(values), ...Object.keys(initialValues)], () => act(getValues()))
  type Name = keyof Values & string
  return {
    values,
    /** Sets some values, or updates them with a function. */
    set: setValues,
    sending,
    /** Props of an input. */
    field: <N extends Name>(name: N) => ({
      ...getInputProps(name),
      value: values[name],
      error: sending.errorOf(name),
    }),
    /** Props of a switch or checkbox. */
    check: (name: Name) => ({ ...getInputProps(name, { type: 'checkbox' }), error: sending.errorOf(name) }),
  }
}
