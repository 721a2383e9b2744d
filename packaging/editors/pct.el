;;; pct.el --- findings of pct, as errors to go through -*- lexical-binding: t -*-
;; In the init file: (load "/path/to/pct.el"). Then M-x pct, and next-error goes from finding to finding, whose lines
;; of threads are notes. M-x compile finds them, too, and places within causes and tables besides.

(require 'compile)

(define-compilation-mode pct-mode "pct"
  "What `pct campaign --report lines' prints."
  (setq-local compilation-error-regexp-alist '(pct)
              compilation-error-regexp-alist-alist
              '((pct "^\\([^ \n:][^\n:]*\\):\\([0-9]+\\): \\(?:error\\|\\(note\\)\\): " 1 2 nil (nil . 3)))))

(defun pct (command)
  "Look for failing schedules by COMMAND, and show the findings."
  (interactive (list (read-shell-command "Command: " "pct campaign -q --report lines -- ./")))
  (compilation-start command #'pct-mode))

(provide 'pct)
