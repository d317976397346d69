import type { ButtonHTMLAttributes } from 'react';
import { classNames } from '../class-names.ts';
import { Icon, type IconName } from '../values/icon.tsx';

const variants = {
  primary: 'bg-accent text-on-accent border-transparent hover:brightness-110',
  secondary: 'bg-surface text-text border-line hover:bg-sunken',
  danger: 'bg-surface text-bad border-line hover:bg-bad-soft',
  ghost: 'bg-transparent text-text border-transparent hover:bg-sunken',
} as const;
const sizes = { md: 'h-9 px-3', sm: 'h-7 px-2 text-[13px]' } as const;

export type ButtonVariant = keyof typeof variants;

/** Class of a button, for links that look like one. */
export const buttonClass = (variant: ButtonVariant = 'secondary', size: keyof typeof sizes = 'md'): string =>
  classNames(
    'inline-flex items-center justify-center gap-1.5 rounded-md border font-medium whitespace-nowrap select-none',
    'transition-colors disabled:opacity-50 disabled:cursor-not-allowed',
    variants[variant],
    sizes[size],
  );

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: ButtonVariant;
  readonly size?: keyof typeof sizes;
  readonly icon?: IconName;
  /** Waits for an answer: cannot be pressed again. */
  readonly isBusy?: boolean;
}

export function Button({ variant, size, icon, isBusy = false, className, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      aria-busy={isBusy || undefined}
      disabled={rest.disabled || isBusy}
      className={classNames(buttonClass(variant, size), className)}
    >
      {isBusy ? (
        <span className="size-3.5 animate-spin rounded-full border-2 border-current border-t-transparent" />
      ) : (
        icon && <Icon name={icon} />
      )}
      {children}
    </button>
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children'> {
  readonly icon: IconName;
  /** The action: accessible name and tooltip. */
  readonly label: string;
}

export const IconButton = ({ icon, label, className, variant = 'ghost', size = 'md', ...rest }: IconButtonProps) => (
  <Button
    {...rest}
    aria-label={label}
    title={label}
    variant={variant}
    size={size}
    icon={icon}
    className={classNames(size === 'sm' ? 'w-7 px-0' : 'w-9 px-0', className)}
  />
);
