// A field that offers values while someone types, after the pattern of the ARIA authoring practices: the focus stays
// in the field, and the arrow keys move over the list.
import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { t } from '../language.ts'

export interface Choice {
  readonly value: string
  readonly name: string
  /** What tells it from others of its name. */
  readonly of: string
}

interface ComboboxProps {
  readonly label: string
  readonly text: string
  readonly choices: readonly Choice[]
  /** What stands below the list: that it is being loaded, that there is more, or that nothing was found. */
  readonly note: string
  readonly onText: (text: string) => void
  readonly onOpen: (isOpen: boolean) => void
  readonly onChoose: (choice: Choice) => void
}

export function Combobox(props: ComboboxProps) {
  const { label, text, choices, note, onText, onOpen, onChoose } = props
  const id = useId()
  const [isOpen, setIsOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const show = (open: boolean) => {
    setIsOpen(open)
    onOpen(open)
    setActive(-1)
  }
  const choose = (choice: Choice | undefined) => {
    if (choice === undefined) return
    onChoose(choice)
    show(false)
  }
  const onKey = (event: TargetedKeyboardEvent<HTMLInputElement>) => {
    // Keys that choose among the characters of an input method are not for the list.
    if (event.isComposing) return
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
    const move = moves[event.key]
    if (move !== undefined) {
      event.preventDefault()
      if (!isOpen) show(true)
      else setActive((place) => Math.min(Math.max(place + move, 0), choices.length - 1))
    } else if (event.key === 'Enter' && isOpen) {
      event.preventDefault()
      choose(choices[active] ?? (choices.length === 1 ? choices[0] : undefined))
    } else if (event.key === 'Escape' && isOpen) {
      event.preventDefault()
      show(false)
    }
  }
  const isActive = isOpen && active >= 0 && active < choices.length
  return (
    <div class="combobox">
      <label for={`${id}-field`}>{label}</label>
      <input
        id={`${id}-field`}
        type="text"
        role="combobox"
        autocomplete="off"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-activedescendant={isActive ? `${id}-${active}` : undefined}
        placeholder={t('Type to find')}
        maxLength={200}
        value={text}
        onFocus={() => show(true)}
        onBlur={() => show(false)}
        onKeyDown={onKey}
        onInput={(event) => {
          if (!isOpen) show(true)
          setActive(-1)
          onText(event.currentTarget.value)
        }}
      />
      <Offers {...{ id, label, choices, note, isOpen, active }} onChoose={choose} />
    </div>
  )
}

interface OffersProps extends Pick<ComboboxProps, 'label' | 'choices' | 'note' | 'onChoose'> {
  readonly id: string
  readonly isOpen: boolean
  readonly active: number
}

function Offers({ id, label, choices, note, isOpen, active, onChoose }: OffersProps) {
  useEffect(() => {
    document
      .querySelector(`#${CSS.escape(`${id}-${active}`)}`)
      ?.scrollIntoView({ block: 'nearest' })
  }, [id, active])
  return (
    <div class="offers" hidden={!isOpen}>
      <div id={`${id}-list`} class="list" role="listbox" aria-label={label}>
        {choices.map((choice, place) => (
          // The focus stays in the field, whose keys move over the list.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events, jsx-a11y/interactive-supports-focus
          <div
            key={choice.value}
            id={`${id}-${place}`}
            role="option"
            aria-selected={place === active}
            // The field would lose the focus, which closes the list. A finger that only scrolls chooses nothing.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => onChoose(choice)}
          >
            {choice.name === '' ? choice.value : choice.name}
            {choice.of !== '' && <small> {choice.of}</small>}
          </div>
        ))}
      </div>
      <p class="muted" role="status">
        {note}
      </p>
    </div>
  )
}
